"""The view: what the loop did, as local web pages over run folders, live while a run goes on.

Reads journals and never writes in one that a run has made. Only the command line uses it; needs the extra `view`.
"""
