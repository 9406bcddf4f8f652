"""System calls that a bot has no use for: a seccomp filter for what Landlock leaves open.

Without it a process of the same user may lower a rival's limits and priority, send UDP, ask the session bus
to start a program for it, change the modes of the operator's files, and find another copy of itself by
shared memory, keys or locks.  A filter sees numbers, never paths, and stays with all descendants.
"""

from __future__ import annotations

import errno
import os
import struct
import sys

TYPE_CHECKING = False  # as `typing` has it, which would take longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Iterable

_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_X32 = 0x40000000

# Each call: its number on x86_64 and on aarch64, -1 where it has none.
_TABLE = """
    read 0 63   write 1 64   futex 202 98   ppoll 271 73   epoll_pwait 281 22   ptrace 101 117
    process_vm_readv 310 270   process_vm_writev 311 271   pidfd_getfd 438 438   kcmp 312 272
    process_madvise 440 440   prlimit64 302 261   setpriority 141 140   ioprio_set 251 30
    sched_setaffinity 203 122   sched_setscheduler 144 119   sched_setparam 142 118
    sched_setattr 314 274   migrate_pages 256 238   move_pages 279 239   add_key 248 217
    request_key 249 218   keyctl 250 219   shmget 29 194   shmat 30 196   shmctl 31 195
    semget 64 190   semop 65 193   semctl 66 191   semtimedop 220 192   msgget 68 186
    msgsnd 69 189   msgrcv 70 188   msgctl 71 187   mq_open 240 180   mq_unlink 241 181
    socket 41 198   socketpair 53 199   io_uring_setup 425 425   io_uring_enter 426 426
    io_uring_register 427 427   flock 73 32   fcntl 72 25   inotify_init 253 -1
    inotify_init1 294 26   fanotify_init 300 262   open_by_handle_at 304 265
    name_to_handle_at 303 264   unshare 272 97   setns 308 268   clone 56 220   clone3 435 435
    mount 165 40   umount2 166 39   pivot_root 155 41   chroot 161 51   open_tree 428 428
    move_mount 429 429   fsopen 430 430   fsconfig 431 431   fsmount 432 432   fspick 433 433
    mount_setattr 442 442   bpf 321 280   perf_event_open 298 241   userfaultfd 323 282
    kexec_load 246 104   kexec_file_load 320 294   init_module 175 105   finit_module 313 273
    delete_module 176 106   reboot 169 142   swapon 167 224   swapoff 168 225   acct 163 89
    quotactl 179 60   settimeofday 164 170   clock_settime 227 112   adjtimex 159 171
    clock_adjtime 305 266   sethostname 170 161   setdomainname 171 162   iopl 172 -1
    ioperm 173 -1   syslog 103 116   vhangup 153 58   chmod 90 -1   fchmod 91 52   fchmodat 268 53
    fchmodat2 452 452   chown 92 -1   fchown 93 55   lchown 94 -1   fchownat 260 54   setxattr 188 5
    lsetxattr 189 6   fsetxattr 190 7   setxattrat 463 463   removexattr 197 14
    lremovexattr 198 15   fremovexattr 199 16   removexattrat 466 466   utime 132 -1   utimes 235 -1
    futimesat 261 -1   utimensat 280 88   kill 62 129   tkill 200 130   tgkill 234 131
    pidfd_send_signal 424 424   rt_sigqueueinfo 129 138   rt_tgsigqueueinfo 297 240   truncate 76 45
    prctl 157 167
"""
_WORDS = _TABLE.split()
_NUMBERS = {name: (int(here), int(there)) for name, here, there in zip(*[iter(_WORDS)] * 3, strict=True)}

_HOT = ("read", "write", "futex", "ppoll", "epoll_pwait")
_REFUSED = {
    errno.EPERM: (
        *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "process_madvise"),
        *("migrate_pages", "move_pages", "open_by_handle_at", "name_to_handle_at", "unshare", "setns"),
        *("mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen", "fsconfig"),
        *("fsmount", "fspick", "mount_setattr", "bpf", "perf_event_open", "userfaultfd"),
        *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot"),
        *("swapon", "swapoff", "acct", "quotactl", "settimeofday", "clock_settime", "adjtimex"),
        *("clock_adjtime", "sethostname", "setdomainname", "iopl", "ioperm", "syslog", "vhangup"),
    ),
    errno.EACCES: (
        *("shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop"),
        *("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink", "socket"),
    ),
    # What has a fallback that programs know to take.
    errno.ENOSYS: (
        *("add_key", "request_key", "keyctl", "io_uring_setup", "io_uring_enter", "io_uring_register"),
        *("inotify_init", "inotify_init1", "fanotify_init", "clone3"),
    ),
}
_OWN_ONLY = ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
_OWN_ONLY_BY_KIND = {"setpriority": 0, "ioprio_set": 1}
_MODES = ("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat")
_ATTRIBUTES = (
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
    *("removexattr", "lremovexattr", "fremovexattr", "removexattrat"),
)
_TIMES = ("utime", "utimes", "futimesat", "utimensat")
_SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
_LOCKS = (6, 7, 37, 38)  # F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW
_WATCHES = (1024, 1026)  # F_SETLEASE, F_NOTIFY
_NAMESPACES = 0x7E020000 | 0x80  # CLONE_NEW*
_AF_UNIX = 1
_SET_DUMPABLE = 4  # without it /proc tells a keeper that is not root neither memory nor descriptors

_LOAD, _EQUAL, _ABOVE, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_ARCHITECTURE, _NUMBER = 4, 0

_SECCOMP = (317, 277)
_SET_FILTER, _SPEC_ALLOW = 1, 1 << 2


def offered() -> bool:
    """Whether this kernel takes filters, and one can be made for this kind of machine."""
    if sys.platform != "linux" or os.uname().machine not in _MACHINES:
        return False
    return os.path.exists("/proc/sys/kernel/seccomp/actions_avail")  # noqa: PTH110 (no pathlib in the keeper)


def program(kind: str, pid: int, abi: int, *, shares_user: bool) -> bytes:
    """The filter for the process `pid`, as the kernel takes it.

    `kind` is "bot", "build" (which may lock files and set their modes), or "alone" for one that sees no
    other's processes and files.  What Landlock of this `abi` cannot do is done here as well as can be.
    """
    _, column = _MACHINES[os.uname().machine]
    rules = _rules(kind, pid, abi, shares_user)
    parts = [_op(_LOAD, _ARCHITECTURE), _op(_EQUAL, _MACHINES[os.uname().machine][0], 1, 0)]
    parts += [_op(_RETURN, _KILL), _op(_LOAD, _NUMBER)]
    if column == 0:
        parts += [_op(_ABOVE, _X32, 0, 1), _refuse(errno.ENOSYS)]
    for name, body in rules:
        number = _NUMBERS[name][column]
        if number >= 0:
            parts += [_op(_EQUAL, number, 0, len(body)), *body]
    return b"".join([*parts, _op(_RETURN, _ALLOW)])


def install(filter_: bytes) -> None:
    """Put this process and all its descendants under the filter; `no_new_privs` must be set."""
    import ctypes

    from referee.table.keep.syscalls import syscall

    buffer = ctypes.create_string_buffer(filter_, len(filter_))
    header = struct.pack("HxxxxxxP", len(filter_) // 8, ctypes.addressof(buffer))
    _, column = _MACHINES[os.uname().machine]
    syscall(_SECCOMP[column], _SET_FILTER, _SPEC_ALLOW, header)


def _rules(kind: str, pid: int, abi: int, shares_user: bool) -> list[tuple[str, list[bytes]]]:
    rules = [(name, [_op(_RETURN, _ALLOW)]) for name in _HOT]
    for number, names in _REFUSED.items():
        rules += [(name, [_refuse(number)]) for name in names]
    rules.append(("socketpair", _unless_argument(0, (_AF_UNIX,), errno.EACCES)))
    rules.append(("prctl", [_argument(0), _op(_EQUAL, _SET_DUMPABLE, 0, 1), _refuse(0), _allow()]))
    rules.append(("clone", [_argument(0), _op(_ANY_BIT, _NAMESPACES, 0, 1), _refuse(errno.EPERM), _allow()]))
    if kind != "build":
        rules += [("flock", [_refuse(0)]), ("fcntl", _no_locks())]
    if kind == "alone":
        return rules
    own = (0, pid)
    rules += [(name, _unless_argument(0, own, errno.EPERM)) for name in _OWN_ONLY]
    for name, process in _OWN_ONLY_BY_KIND.items():
        body = [_argument(0), _op(_EQUAL, process, 1, 0), _refuse(errno.EPERM)]
        rules.append((name, body + _unless_argument(1, own, errno.EPERM)))
    if shares_user and kind != "build":
        rules += [(name, [_refuse(errno.EPERM)]) for name in _MODES]
        rules += [(name, [_refuse(errno.ENOTSUP)]) for name in _ATTRIBUTES]
        rules += [(name, [_refuse(0)]) for name in _TIMES]  # nobody is hurt by believing that it worked
    if shares_user and abi < 6:
        ours = (*own, -pid & 0xFFFFFFFF)
        rules += [(name, _unless_argument(0, ours, errno.EPERM)) for name in _SIGNALS]
        rules.append(("pidfd_send_signal", [_refuse(errno.EPERM)]))
    if shares_user and abi < 3:
        rules.append(("truncate", [_refuse(errno.EPERM)]))
    return rules


def _no_locks() -> list[bytes]:
    """File locks are granted and never taken: two copies of a bot could meet at them."""
    tests: list[bytes] = [_argument(1)]
    for command in _LOCKS:
        tests += [_op(_EQUAL, command, 0, 1), _refuse(0)]
    for command in _WATCHES:
        tests += [_op(_EQUAL, command, 0, 1), _refuse(errno.EPERM)]
    return [*tests, _allow()]


def _unless_argument(which: int, values: Iterable[int], number: int) -> list[bytes]:
    """Allow a call whose argument is one of these, seen as 32 bits; refuse any other."""
    tests = [_argument(which)]
    for value in values:
        tests += [_op(_EQUAL, value, 0, 1), _allow()]
    return [*tests, _refuse(number)]


def _argument(which: int) -> bytes:
    return _op(_LOAD, 16 + 8 * which)


def _allow() -> bytes:
    return _op(_RETURN, _ALLOW)


def _refuse(number: int) -> bytes:
    """Let the call fail with this errno, or seem to succeed with 0."""
    return _op(_RETURN, _ERRNO | number)


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
