"""The reflector writes a lesson after a confirmed failure; the guard judges whether it is worth keeping.

Sessions use `reflect`; nothing else does.
"""

from hardwon.reflection.reflector import reflect

__all__ = ["reflect"]
