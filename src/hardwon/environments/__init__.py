"""Worlds that an agent acts in: the `Environment` protocol, and the worlds themselves, one file each.

Suites make environments, the acting agent of the actors' room steps through them; strategies never see one.
"""

from hardwon.environments.protocol import Environment, Observation
from hardwon.environments.task import EpisodeTask

__all__ = ["Environment", "EpisodeTask", "Observation"]
