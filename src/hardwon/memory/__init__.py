"""What is remembered: the episodic window of one task (`episodic.py`), and across tasks (`bank/`).

Sessions own a memory; strategies read it through the session.
"""
