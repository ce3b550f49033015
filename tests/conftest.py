"""What all tests share: examples of hypothesis have no time limit of their own, since the machine may be busy."""

from hypothesis import settings

settings.register_profile("hardwon", deadline=None)
settings.load_profile("hardwon")
