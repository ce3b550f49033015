"""Runs: the journal that every effect goes into, the runner over it, results and their reading.

The command line and the Python API use this room; strategies and evaluators never see it.
"""
