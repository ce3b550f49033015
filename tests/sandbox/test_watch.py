"""Following a command to its end."""

from __future__ import annotations

import subprocess
import threading

from hardwon.sandbox.protocol import Limits
from hardwon.sandbox.shell import Watch


class Late(subprocess.Popen[bytes]):
    """Says its word and ends after its output was looked at in vain, and before its state is."""

    def poll(self) -> int | None:
        if self.stdin is not None:
            self.stdin.close()
            self.stdin = None
            self.wait()
        return super().poll()


def test_what_a_command_says_with_its_last_breath_is_kept() -> None:
    command = ["sh", "-c", "cat >/dev/null; echo late"]
    process = Late(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    watch = Watch(Limits(total_seconds=10.0), 0, threading.Event(), lambda: None)
    assert watch.follow(process, None) is False
    assert watch.output() == "late\n"
