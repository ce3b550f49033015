"""Strategies: the rules that spend a budget on one problem and hand in one submission; one short file for each.

A strategy imports the session and the words (trial, problem), and nothing else of Hardwon. The command line and the
Python API look strategies up in `strategies.registry`.
"""
