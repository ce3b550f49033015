"""What is remembered: the episodic window of one task (and, later, the reasoning bank across tasks).

Sessions own a memory; strategies read it through the session.
"""
