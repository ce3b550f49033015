"""The child's side of isolation: namespaces, capabilities, seccomp, Landlock and resource limits, through libc alone.

Everything here only ever takes rights away. Each function raises OSError when the kernel refuses, so that a wall that
does not stand is noticed.
"""

from __future__ import annotations

import ctypes
import os
import resource
import stat
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NEW_NAMESPACE, NEW_IPC, NEW_PID = 0x00020000, 0x08000000, 0x20000000
_NAMESPACE_FLAGS = 0x7E020000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _PR_SET_DUMPABLE = 38, 22, 4
_CAPABILITY_HEADER, _NOTHING = struct.pack("<Ii", 0x20080522, 0), bytes(24)
_PR_SET_CHILD_SUBREAPER = 36
_M_ARENA_MAX = -8
_EPERM, _ENOSYS = 1, 38

libc = ctypes.CDLL(None, use_errno=True)
# For calls after the fork: without errno and the release of the lock they touch a fifth of the memory pages, each of
# which would have to be copied.
_quick = ctypes.PyDLL(None)
_capset, _unshare, _setns = _quick.capset, _quick.unshare, _quick.setns


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    if _unshare(flags):
        _check(libc.unshare(flags), "unshare")  # says why


def enter_namespace(fd: int, flags: int) -> None:
    if _setns(fd, flags):
        _check(libc.setns(fd, flags), "setns")


def fresh_tmpfs(path: str, size_mib: int, files: int) -> None:
    """Mounts an empty tmpfs over `path`, dropping one mounted there before."""
    libc.umount2(path.encode(), 2)  # MNT_DETACH; fails when this is the first one
    options = f"size={size_mib}m,nr_inodes={files},mode=0700".encode()
    _check(libc.mount(b"tmpfs", path.encode(), b"tmpfs", 0x2 | 0x4, options), "mount tmpfs")  # nosuid, nodev


def one_malloc_arena() -> None:
    """Keeps a thread from reserving 128 MiB of address space, which would count against RLIMIT_AS."""
    libc.mallopt(_M_ARENA_MAX, 1)


def hide_memory() -> None:
    """Makes this process and its forks unreadable for others of the same user."""
    _check(libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "PR_SET_DUMPABLE")


def adopt_orphans() -> None:
    """Makes descendants whose parent ends children of this process, so that none escapes being killed."""
    _check(libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "PR_SET_CHILD_SUBREAPER")


def no_new_privileges() -> None:
    """Gives up the ways in which a started program could have more rights than this process."""
    _check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")


def drop_capabilities() -> None:
    """Gives up every capability; with no_new_privs there is no way to regain one."""
    if _capset(_CAPABILITY_HEADER, _NOTHING):  # the ambient set goes too
        raise OSError("capabilities could not be dropped")


def resource_limits(
    limits: Mapping[str, Any], processes: int | None, memory: bool = True
) -> list[tuple[int, tuple[int, int]]]:
    """One child's limits from the fields of `Limits`, as `setrlimit` takes them; `processes` None sets none."""
    mib = 1 << 20
    wanted = {
        resource.RLIMIT_CPU: int(limits["total_seconds"]) + 2,
        resource.RLIMIT_FSIZE: int(limits["file_mib"] * mib),
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    if memory:
        wanted[resource.RLIMIT_AS] = int(limits["memory_mib"] * mib)
    if processes is not None:
        wanted[resource.RLIMIT_NPROC] = processes
    found = []
    for which, value in wanted.items():
        hard = resource.getrlimit(which)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        found.append((which, (value, value)))
    return found


# System calls that no candidate needs: other namespaces and mounts, other processes' memory, kernel services that widen
# the attack surface, leaving the processor, System V and POSIX queues, which would outlive a candidate.
_DENIED: dict[str, tuple[int, ...]] = {
    "x86_64": (
        101, 310, 311, 272, 308, 165, 166, 155, 161, 250, 248, 249, 321, 298, 323, 425, 426, 427, 246, 320, 175, 313,
        176, 29, 64, 68, 240, 303, 304, 438, 312, 135, 428, 429, 430, 431, 432, 433, 442, 447, 167, 168, 169, 203, 41,
    ),
    "aarch64": (
        117, 270, 271, 97, 268, 40, 39, 41, 51, 219, 217, 218, 280, 241, 282, 425, 426, 427, 104, 294, 105, 273,
        106, 194, 190, 186, 180, 264, 265, 438, 272, 92, 428, 429, 430, 431, 432, 433, 442, 447, 224, 225, 142, 122,
        198,
    ),
}  # fmt: skip
# clone, clone3, and the calls that signal: kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_send_signal
_CLONE = {"x86_64": (56, 435), "aarch64": (220, 435)}
_SIGNAL = {"x86_64": ((62, 234), (200, 129, 297, 424)), "aarch64": ((129, 131), (130, 138, 240, 424))}
_SERVER = {"x86_64": (272, 308, 165, 166), "aarch64": (97, 268, 40, 39)}  # unshare; setns, mount, umount2
_SOCKET = {"x86_64": 41, "aarch64": 198}
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def seccomp_supported() -> bool:
    return os.uname().machine in _DENIED


def seccomp_program(own_pid: int | None = None, sockets: bool = False, server: bool = False) -> bytes:
    """The filter as BPF: deny the calls above, and every way to open a socket but socketpair.

    With `own_pid` (where no PID namespace stands) signals may be sent to that process alone. `sockets` allows sockets,
    for commands that were given the network. `server` leaves a fork server its mounts, its `setns`, and `unshare` of a
    PID namespace: its children inherit the filter, but all these need a capability that they have not, and without the
    user namespace that stays denied they can not come by one.
    """
    machine = os.uname().machine
    allow, refuse, missing = 0x7FFF0000, 0x00050000 | _EPERM, 0x00050000 | _ENOSYS
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    code: list[tuple[int, int, int, int]] = [(load, 0, 0, 4), (equal, 1, 0, _AUDIT[machine]), (give, 0, 0, refuse)]
    code += [(load, 0, 0, 0), (at_least, 0, 1, 0x40000000), (give, 0, 0, refuse)]  # x32 numbers
    clone, clone3 = _CLONE[machine]
    code += [(equal, 0, 1, clone3), (give, 0, 0, missing)]  # its flags can not be read; libc falls back to clone
    code += [(equal, 0, 4, clone), (load, 0, 0, 16), (any_bit, 0, 1, _NAMESPACE_FLAGS)]
    code += [(give, 0, 0, refuse), (give, 0, 0, allow)]
    denied = [number for number in _DENIED[machine] if not (sockets and number == _SOCKET[machine])]
    if server:
        allowed_once, *mounting = _SERVER[machine]
        denied = [number for number in denied if number not in mounting]
        code += [(equal, 0, 4, allowed_once), (load, 0, 0, 16), (equal, 1, 0, NEW_PID)]
        code += [(give, 0, 0, refuse), (give, 0, 0, allow)]
    if own_pid is not None:
        by_pid, others = _SIGNAL[machine]
        denied += others
        for number in by_pid:
            code += [(equal, 0, 4, number), (load, 0, 0, 16), (equal, 1, 0, own_pid)]
            code += [(give, 0, 0, refuse), (give, 0, 0, allow)]
    code += [(equal, len(denied) - i, 0, number) for i, number in enumerate(denied)]
    code += [(give, 0, 0, allow), (give, 0, 0, refuse)]
    return b"".join(struct.pack("<HBBI", op, yes, no, k) for op, yes, no, k in code)


def install_seccomp(program: bytes) -> None:
    """Puts a filter in force for this process and all that it starts; needs no_new_privs."""
    buffer = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    _check(libc.prctl(_PR_SET_SECCOMP, 2, described, 0, 0), "PR_SET_SECCOMP")


def landlock_abi() -> int:
    """The kernel's Landlock version, 0 where there is none."""
    return max(0, int(libc.syscall(444, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def landlock(readable: list[str], writable: list[str]) -> None:
    """Confines this process's file access to the paths given; also TCP and signals where the kernel can (ABI 4, 6)."""
    abi = landlock_abi()
    if not abi:
        raise OSError(_ENOSYS, "Landlock is not available")
    no_new_privileges()
    handled = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF}.get(abi, 0xFFFF)
    attributes = struct.pack("<QQQ", handled, 3, 3)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    ruleset = _check(libc.syscall(444, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)), "Landlock")
    execute_read = 0x1 | 0x4 | 0x8
    on_files = 0x1 | 0x2 | 0x4 | (0xC000 & handled)
    for paths, rights in ((readable, execute_read), (writable, handled)):
        for path in paths:
            try:
                fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            granted = rights if stat.S_ISDIR(os.fstat(fd).st_mode) else rights & on_files
            rule = struct.pack("<Qi", granted, fd)
            _check(libc.syscall(445, ruleset, 1, rule, ctypes.c_uint32(0)), "Landlock rule")
            os.close(fd)
    _check(libc.syscall(446, ruleset, ctypes.c_uint32(0)), "Landlock restrict")
    os.close(ruleset)
