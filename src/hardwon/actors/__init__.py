"""Actors turn a problem, with lessons and an earlier trial, into a trajectory.

Here live the program writer and the reading of programs out of replies. Sessions use them; strategies do not.
"""
