"""Puts the interpreter's machine code onto large memory pages, which a fork shares by one entry in place of hundreds.

The pages of a mapped file are not handed on by a fork: each child meets them anew, sixteen at a time, and lets go of
them one by one when it ends. That is a tenth of what a short-lived child costs.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_LARGE = 2 << 20
_SMALL = 4096
_LOADED, _WRITABLE = 1, 2  # of a segment: PT_LOAD, PF_W
_READ, _WRITE, _EXECUTE = 1, 2, 4
_PRIVATE_ANONYMOUS = 0x22
_MAY_MOVE_FIXED = 3
_HUGE_PAGE, _COLLAPSE = 14, 25  # advice to `madvise`; the second, of Linux 6.1, fails where there is no large page

_libc = ctypes.CDLL(None)
_address, _size = ctypes.c_void_p, ctypes.c_size_t
_libc.mmap.restype = _libc.mremap.restype = _address
_libc.mmap.argtypes = [_address, _size, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.mremap.argtypes = [_address, _size, _size, ctypes.c_int, _address]
_libc.munmap.argtypes = [_address, _size]
_libc.mprotect.argtypes = _libc.madvise.argtypes = [_address, _size, ctypes.c_int]
_FAILED = _address(-1).value


def code_on_large_pages() -> int:
    """Moves what can be moved of the interpreter's code and constants; the bytes moved, 0 where the kernel can not.

    To be called while no other thread runs. What it moves keeps its addresses and becomes anonymous memory.
    """
    if os.sysconf("SC_PAGE_SIZE") != _SMALL or sys.maxsize < 1 << 32:
        return 0
    start, end = _unwritable_part()
    moved = 0
    for window in range(-(-start // _LARGE) * _LARGE, end - _LARGE + 1, _LARGE):
        if not _moved(window):
            break
        moved += _LARGE
    return moved


def _unwritable_part() -> tuple[int, int]:
    """The longest stretch of the interpreter's library (or executable) that is mapped without a right to write."""
    found = (ctypes.c_void_p * 4)()  # Dl_info: file name, base, symbol name, symbol address
    if not _libc.dladdr(ctypes.cast(ctypes.pythonapi.Py_IncRef, _address), found) or not found[1]:
        return 0, 0
    base = found[1]
    head = ctypes.string_at(base, 64)
    (table,), (size, count) = struct.unpack_from("=Q", head, 32), struct.unpack_from("=HH", head, 54)
    stretches: list[list[int]] = []
    shift: int | None = None
    for number in range(count):
        entry = ctypes.string_at(base + table + number * size, 56)
        kind, flags, _, address, _, _, length, _ = struct.unpack("=IIQQQQQQ", entry)
        if kind != _LOADED:
            continue
        first, last = address // _SMALL * _SMALL, -(-(address + length) // _SMALL) * _SMALL
        shift = base - first if shift is None else shift
        if flags & _WRITABLE:
            continue
        if stretches and stretches[-1][1] == first + shift:
            stretches[-1][1] = last + shift
        else:
            stretches.append([first + shift, last + shift])
    start, end = max(stretches, key=lambda s: s[1] - s[0], default=[0, 0])
    return start, end


def _moved(window: int) -> bool:
    """Copies one window to a large page and puts that in its place."""
    around = _libc.mmap(None, 2 * _LARGE, _READ | _WRITE, _PRIVATE_ANONYMOUS, -1, 0)
    if around == _FAILED:
        return False
    copy = -(-around // _LARGE) * _LARGE
    _libc.madvise(copy, _LARGE, _HUGE_PAGE)
    ctypes.memmove(copy, window, _LARGE)
    large = _libc.madvise(copy, _LARGE, _COLLAPSE) == 0 and _libc.mprotect(copy, _LARGE, _READ | _EXECUTE) == 0
    large = large and _libc.mremap(copy, _LARGE, _LARGE, _MAY_MOVE_FIXED, window) == window
    if not large:
        _libc.munmap(copy, _LARGE)
    _libc.munmap(around, copy - around)
    _libc.munmap(copy + _LARGE, around + _LARGE - copy)
    return bool(large)
