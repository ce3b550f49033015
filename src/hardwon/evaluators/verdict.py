"""From single checks to one feedback: the one rule of what passes, and the text that the model reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from hardwon.trial import Check, Feedback, Source

_SHOWN_CHECKS = 5
_TEXT_LIMIT = 1500
_PART_LIMIT = 220
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_TEMPORARY = re.compile(r"(?:/private)?/(?:var/)?(?:tmp|run|dev/shm)/(?:[^\s'\",:;()]*/)?([^\s'\",:;()/]+)")


BROKEN_OFF = "tests finish"
"""The sandbox's check, `no_evidence`, that says that tests ended in an error of their own."""


def judge(checks: Sequence[Check], source: Source) -> Feedback:
    """The feedback that `checks` amount to.

    It is `pass` if at least one check passed and none failed, `fail` if one failed, `no_evidence` if none decided
    or the tests broke off through a fault of their own. The score is the share of the deciding checks that passed.
    The text names at most five failing checks and counts the rest; it holds no timings, addresses or temporary
    paths, so that equal outcomes read equal.
    """
    count = Counter(check.status for check in checks)
    passed, failed, silent = count["pass"], count["fail"], count["no_evidence"]
    if failed:
        return Feedback("fail", passed / (passed + failed), failure_text(checks), tuple(checks), source)
    if any(check.name == BROKEN_OFF and check.status == "no_evidence" for check in checks):
        text = f"The tests broke off before their end, so nothing is shown.{_silence(checks)}"
        return Feedback("no_evidence", 0.0, text, tuple(checks), "none")
    if passed:
        text = f"{'The only test passed' if passed == 1 else f'All {passed} tests passed'}.{_silence(checks)}"
        return Feedback("pass", 1.0, text, tuple(checks), source)
    text = f"No test decided anything, so nothing is shown.{_silence(checks) if silent else ''}"
    return Feedback("no_evidence", 0.0, text, tuple(checks), "none")


def no_output(source: Source, text: str) -> Feedback:
    """The failed feedback of a reply that held nothing to check; `text` says what to do."""
    return Feedback("fail", 0.0, text, (Check("reply", "fail", error=text, source=source),), source)


def no_program(source: Source) -> Feedback:
    """The failed feedback of a reply without a program."""
    return no_output(
        source,
        "The reply held no Python program. Write the whole program in one block that starts with ```python.",
    )


def failure_text(checks: Sequence[Check]) -> str:
    """What failed, call by call, for the model; at most 1500 characters."""
    failing = [check for check in checks if check.status == "fail"]
    decided = sum(check.status != "no_evidence" for check in checks)
    blocks = [f"{len(failing)} of {decided} {'test' if decided == 1 else 'tests'} failed:"]
    tail = _silence(checks)
    room = _TEXT_LIMIT - len(blocks[0]) - len(tail) - 40
    for check in failing[:_SHOWN_CHECKS]:
        block = _block(check)
        if len(block) + 1 > room:
            break
        room -= len(block) + 1
        blocks.append(block)
    if hidden := len(failing) - (len(blocks) - 1):
        blocks.append(f"- and {hidden} more")
    return "\n".join(blocks) + tail


def steady(text: str) -> str:
    """`text` without what differs from run to run: memory addresses and the paths of temporary folders."""
    return _TEMPORARY.sub(lambda path: path[1] if "." in path[1] else "…", _without_addresses(text))


def cut(text: str, limit: int) -> str:
    """Head and tail of a text longer than `limit` characters, with the count of what was left out."""
    if len(text) <= limit:
        return text
    room = max(limit - 32, 2)
    head, tail = text[: room - room // 2], text[len(text) - room // 2 :]
    return f"{head} […{len(text) - room} characters…] {tail}"


def _block(check: Check) -> str:
    call = check.call if check.call is not None else check.name
    lines = [f"- {_part(call.strip())}"]
    if check.expected is not None and check.observed is not None:
        lines.append(f"  expected {_part(check.expected)}, got {_part(check.observed)}")
    elif check.expected is not None and check.error is None:
        lines.append(f"  expected {_part(check.expected)}")
    elif check.observed is not None:
        lines.append(f"  got {_part(check.observed)}")
    if check.error is not None:
        lines.append(f"  {cut(steady(check.error), _PART_LIMIT)}")
    return "\n".join(lines)


def _part(value: str) -> str:
    # A value may be a path on purpose, so only addresses are taken out of it.
    return cut(_without_addresses(value), _PART_LIMIT)


def _without_addresses(text: str) -> str:
    return _ADDRESS.sub("0x…", text)


def _silence(checks: Iterable[Check]) -> str:
    """How many checks showed nothing, and why the first did: none of them may be hidden."""
    silent = [check for check in checks if check.status == "no_evidence"]
    if not silent:
        return ""
    reason = next((cut(steady(check.error), _PART_LIMIT) for check in silent if check.error), None)
    counted = f"{len(silent)} {'test' if len(silent) == 1 else 'tests'} showed nothing"
    return f"\n{counted}{f': {reason}' if reason else ''}."
