"""The candidate as the checker sees it: a function whose calls go over the wall and come back as data."""

from __future__ import annotations

import builtins
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from . import wire
from .channel import Channel
from .line import Closed
from .shown import shown_line
from .standins import CandidateError, describe, standin_maker

MOST_GONE = 2
"""After this many candidates timed out or died the tests stop: N tests must not cost N time limits."""

_MUTABLE = (list, dict, set, bytearray, deque)
_FIXED = frozenset({int, float, str, bool, bytes, type(None)})


class Gone(BaseException):
    """The candidate timed out or died. Not an Exception, so that no test takes it for one that it expects."""


class Stop(BaseException):
    """The tests end here."""


class Remote:
    """One candidate at a time, replaced when it is gone.

    `calls` counts the calls that were answered, `raised` those answered by an exception; `opaque` is the type name of
    the first value that could not cross, `gone` how many candidates were lost, `unseen` the last loss not yet recorded.
    """

    def __init__(self, host: Channel, candidate: socket.socket, job: Mapping[str, Any]) -> None:
        self.host = host
        self.channel = Channel(candidate)
        self.program: str = job["program"]
        self.entry: str = job["entry"]
        self.limits: Mapping[str, Any] = job["limits"]
        self.deadline = time.monotonic() + self.limits["total_seconds"]
        self.calls = self.raised = self.gone = 0
        self.opaque: str | None = None
        self.unseen: str | None = None
        self.last_raised: BaseException | None = None
        self.spent = 0.0
        self._alive = True
        self._number = int.from_bytes(os.urandom(6), "big")
        self._standin = standin_maker(self._crossed)

    def close(self) -> None:
        """Hangs up on the candidate."""
        self.channel.close()

    def send_program(self) -> None:
        self.channel.send({"program": self.program, "entry": self.entry}, self._load_deadline())

    def loaded(self) -> str | None:
        """Waits for the program to load; None when it did, else what is wrong with it. Raises Gone."""
        limit = min(self.limits["load_seconds"], self.limits["total_seconds"])
        try:
            reply = self.channel.receive(self._load_deadline())
            if "error" in reply:
                return str(reply["error"])
            return None if reply["entry"] is True else f"the program defines no function {self.entry!r}"
        except TimeoutError:
            self._lost(f"did not load within {limit:g} s", timed_out=True)
        except Closed:
            self._lost("while loading")
        except (wire.Violation, TypeError, KeyError):
            self._lost("broke the protocol while loading", timed_out=True)

    def _load_deadline(self) -> float:
        seconds: float = self.limits["load_seconds"]
        latest: float = min(self.deadline, time.monotonic() + seconds)
        return latest

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the entry point. Raises what the candidate raises, CannotCross for arguments, Gone, Stop."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "args": wire.pack(list(args), _refuse)}
        if kwargs:
            message["kwargs"] = wire.pack(kwargs, _refuse)
        if _has_mutable(args) or (kwargs and _has_mutable(tuple(kwargs.values()))):
            message["mutable"] = True
        if not self._alive:
            self._revive()
        limit = self.limits["test_seconds"]
        start = time.monotonic()
        deadline = min(self.deadline, start + limit - self.spent)
        try:
            self.channel.send(message, deadline)
            reply = self.channel.receive(deadline)
            if type(reply) is not dict or reply.get("id") != self._number:
                raise wire.Violation("an answer to another call")
            if "after" in reply:
                _update_all(args, wire.unpack(reply["after"], self._standin))
            if "after_named" in reply:
                changed = wire.unpack(reply["after_named"], self._standin)
                _update_all(tuple(kwargs.values()), tuple(changed[name] for name in kwargs))
            outcome = self._outcome(reply, args)
        except TimeoutError:
            left = time.monotonic() < self.deadline
            self._lost(f"timed out after {limit:g} s" if left else "no time left", timed_out=True)
        except Closed:
            self._lost("died")
        except (wire.Violation, TypeError, KeyError, ValueError, IndexError) as error:
            self._lost(f"broke the protocol: {error}", timed_out=True)
        except (MemoryError, RecursionError):
            self._lost("returned more than can be taken over the wall", timed_out=True)
        finally:
            self.spent += time.monotonic() - start
        self.calls += 1
        if type(outcome) is _Raised:  # isinstance would touch an opaque value
            self.raised += 1
            self.last_raised = outcome.error
            raise outcome.error
        return _finished(outcome) if "coroutine" in reply else outcome

    def _outcome(self, reply: Mapping[str, Any], args: tuple[Any, ...]) -> Any:
        if "same" in reply:
            return args[int(reply["same"])]
        if "cannot" in reply:
            return _Raised(CandidateError(f"the candidate returned {str(reply['cannot'])[:200]}"))
        if "raise" in reply:
            return _Raised(self._exception(reply["raise"]))
        return wire.unpack(reply["value"], self._standin)

    def _exception(self, data: Mapping[str, Any]) -> Exception:
        """The candidate's exception: the same built-in type, or one of its name derived from CandidateError."""
        name, text = str(data["type"])[:80], str(data["text"])[:2000]
        try:
            args = wire.unpack(data["args"], self._standin)
        except wire.Violation:
            args = [text]
        parents = [getattr(builtins, str(known), None) for known in data["known"][:20]]
        known = [p for p in parents if isinstance(p, type) and issubclass(p, Exception)]
        made: Exception = CandidateError(f"{name}: {text}" if not known else text)
        try:
            if known and known[0].__name__ == name:
                made = known[0](*args)
            elif known and known[0] is not Exception:
                made = type(name, (CandidateError, known[0]), {})(text)
            elif known:
                made = type(name, (CandidateError,), {})(text)
        except Exception:
            made = CandidateError(f"{name}: {text}")
        made.where = shown_line(self.program, int(data["line"]))  # type: ignore[attr-defined]
        return made

    def _crossed(self, name: str) -> None:
        self.opaque = self.opaque or name

    def _lost(self, what: str, timed_out: bool = False) -> NoReturn:
        """Gives up on this candidate: the host ends it and says how it ended. Raises Gone."""
        self._alive = False
        self.gone += 1
        self.channel.close()
        self.host.send({"gone": True})
        why = self.host.receive()["why"]
        self.unseen = what if timed_out else f"the candidate {why}" + (" while loading" if "load" in what else "")
        raise Gone(self.unseen)

    def _revive(self) -> None:
        if self.gone >= MOST_GONE or time.monotonic() >= self.deadline:
            raise Stop
        self.host.send({"again": True})
        _, fds, _, _ = socket.recv_fds(self.host.sock, 1, 1)
        self.channel = Channel(socket.socket(fileno=fds[0]))
        self._alive = True
        self.send_program()
        if problem := self.loaded():
            self.unseen = problem
            self.gone = MOST_GONE
            raise Gone(problem)


async def _finished(value: Any) -> Any:
    """A coroutine function's answer: tests must await it, as they would have to in one process."""
    return value


class _Raised:
    def __init__(self, error: Exception) -> None:
        self.error = error


def _refuse(value: Any) -> Any:
    name = wire.builtin_name(value)
    if name is not None:
        return {"g": name}
    raise wire.CannotCross(describe(value) or f"an argument of type {type(value).__name__}")


def _has_mutable(values: tuple[Any, ...]) -> bool:
    if _FIXED.issuperset(map(type, values)):
        return False
    return any(isinstance(v, _MUTABLE) or (isinstance(v, tuple) and _has_mutable(v)) for v in values)


def _update_all(old: tuple[Any, ...], new: Sequence[Any]) -> None:
    for before, after in zip(old, new, strict=True):
        _merged(before, after)


def _merged(old: Any, new: Any) -> Any:
    """`old` changed in place into what `new` shows, nested containers too; `new` itself where types differ."""
    if isinstance(old, list) and type(new) is list:
        kept = [_merged(a, b) for a, b in zip(old, new, strict=False)]
        list.__setitem__(old, slice(None), kept + new[len(old) :])
    elif isinstance(old, dict) and type(new) is dict:
        merged = {k: _merged(old[k], v) if k in old else v for k, v in new.items()}
        dict.clear(old)
        dict.update(old, merged)
    elif isinstance(old, set) and type(new) is set:
        set.clear(old)
        set.update(old, new)
    elif isinstance(old, bytearray) and type(new) is bytearray:
        old[:] = new
    elif isinstance(old, deque) and type(new) is deque:
        old.clear()
        old.extend(new)
    elif isinstance(old, tuple) and type(new) is tuple and len(old) == len(new):
        for before, after in zip(old, new, strict=True):
            _merged(before, after)
        return old
    else:
        return old if type(old) is type(new) and old == new else new
    return old


def as_function(remote: Remote) -> Callable[..., Any]:
    """What the tests call: an ordinary function with the entry point's name."""

    def candidate(*args: Any, **kwargs: Any) -> Any:
        return remote.call(*args, **kwargs)

    candidate.__name__ = candidate.__qualname__ = remote.entry
    return candidate
