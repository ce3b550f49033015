"""The errors a user can catch. Each carries a message that says what was wrong, where, and what to do."""


class HardwonError(Exception):
    """Any error that Hardwon raises on purpose; `exit_code` is what the command line leaves with."""

    exit_code = 3


class UsageError(HardwonError):
    """Bad input: a missing file, a malformed line, an unknown name, a clash of settings. Exit code 2."""

    exit_code = 2


class InfrastructureError(HardwonError):
    """The world failed, not the candidate: neither pass nor fail, retried by its own rule (law 8)."""

    exit_code = 3


class SandboxError(InfrastructureError):
    """The sandbox could not run a candidate for a reason that is not the candidate's."""


class EnvironmentTrouble(InfrastructureError):
    """A world that an agent acts in crashed, hung, or could not be started."""


class ModelError(InfrastructureError):
    """A model call failed after its retries: time-out, rate limit, dropped connection, rubbish reply."""


class ModelRefused(UsageError):
    """A model call that can never succeed as it stands: wrong key, unknown model, invalid request."""


class JournalError(InfrastructureError):
    """The journal could not be written or read: full disk, damage."""
