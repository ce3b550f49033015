"""The reflector writes a lesson after a confirmed failure; the guard judges whether it is worth keeping.

Here live also the proposals of a tree search and the placebo of the controls. Sessions use them; nothing else does.
"""

from hardwon.reflection.approaches import propose
from hardwon.reflection.reflector import Form, reflect

__all__ = ["Form", "propose", "reflect"]
