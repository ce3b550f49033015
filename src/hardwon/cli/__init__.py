"""The command line. Each command lives in a file of its own and imports what it needs when it runs.

Nobody imports this room; `hardwon.cli.app:main` is the entry point.
"""
