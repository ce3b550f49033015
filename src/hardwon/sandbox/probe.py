"""Which walls stand: a program is run inside that tries to get through each, and reports."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hardwon.sandbox.inside.confine import landlock_abi
from hardwon.sandbox.launch import DEVICES, INSIDE, WorkerLost, interpreter_files
from hardwon.sandbox.protocol import Isolation, Limits
from hardwon.sandbox.stdio import run_once
from hardwon.sandbox.worker import Worker


def _host_files() -> Iterator[str]:
    """Files of the host that no candidate should see: of the home and working folders, this project, the system."""
    needed = (*interpreter_files(), *DEVICES, str(INSIDE))
    places = (Path.home(), Path.cwd(), Path(__file__).parent, Path("/etc"), Path("/var/log"))
    yield "/proc/1/environ"
    for folder in places:
        entries = list(itertools.islice(folder.iterdir(), 50)) if os.access(folder, os.R_OK) else []
        for entry in (str(path.resolve()) for path in entries):
            leads_to_needed = any(f"{path}/".startswith(f"{entry}/") for path in needed)
            if not leads_to_needed and not any(entry.startswith(f"{path}/") for path in needed):
                yield entry


def facts(worker: Worker) -> dict[str, Any]:
    """What a program inside could do. Raises WorkerLost when the probe itself does not run."""
    secrets = list(_host_files())
    program = (INSIDE / "facts.py").read_text().replace("SECRETS: list[str] = []", f"SECRETS = {secrets!r}")
    ran = run_once(worker, program, "", Limits(), 10.0)
    if ran.status != 0:
        raise WorkerLost(f"the probe failed: {ran.ended_for or ran.stderr.decode(errors='replace')[-500:]}")
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def isolation_of(worker: Worker, bubblewrap: bool, trouble: str | None = None) -> Isolation:
    """Probes a worker and puts the findings into lines. Raises WorkerLost."""
    found = facts(worker)
    slot = worker.candidates.slot
    walls: list[str] = []
    missing: list[str] = [] if trouble is None else [f"bubblewrap is not used: {trouble}"]

    def wall(stands: bool, line: str, lack: str) -> None:
        (walls if stands else missing).append(line if stands else lack)

    mend = "apt-get install bubblewrap" if not bubblewrap else "see what the kernel or container forbids"
    walls.append("verdict: computed in a separate checker process; only plain data crosses")
    wall(not found["network"] and not found["socket"], "network: none", f"network is reachable: {mend}")
    wall(not found["environment"], "environment: empty", "the environment is visible")
    wall(found["pid"] == 1, "processes: a PID namespace for each candidate", f"no PID namespace: {mend}")
    wall(not found["signal_host"], "signals: the host can not be reached", f"signals reach the host: {mend}")
    shown = ", ".join(found["readable"][:3])
    wall(not shown, "files: host files hidden, interpreter read-only", f"host files are readable ({shown}): {mend}")
    wall(not found["writable"], "files: nothing writable but a private /tmp", f"writable: {found['writable']}: {mend}")
    wall(not found["capabilities"] and found["no_new_privs"], "privileges: none, none to be gained", "capabilities")
    wall(bool(found["seccomp"]), "system calls: filtered (seccomp)", "no seccomp filter for this processor")
    if not bubblewrap:
        wall(landlock_abi() > 0, f"files: confined by Landlock (ABI {landlock_abi()})", "no Landlock: use bubblewrap")
    if slot is not None:
        walls.append(f"memory: cgroup {slot.kind} and RLIMIT_AS")
        walls.append(f"process count: cgroup {slot.kind}")
    else:
        walls.append("memory: RLIMIT_AS for each process")
        root = found["processes"] == -1
        lack = "process count is not capped: RLIMIT_NPROC has no effect on root; run as another user"
        wall(not root, "process count: RLIMIT_NPROC", lack)
        missing.append("total memory is not capped: run where a memory cgroup can be made (systemd-run --user --scope)")
    return Isolation("bubblewrap" if bubblewrap else "process", tuple(walls), tuple(missing))
