"""Workspaces: private trees of a repository's commit, in which commands run behind a wall, and their `git diff`.

The shell agent and the evaluators of repositories open them; `hardwon fix` reads a user's repository through them.
"""
