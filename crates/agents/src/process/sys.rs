//! The only place with `unsafe`: shared memory, futexes, and what happens between fork and exec.
//!
//! Everything here is a thin safe wrapper with its reason. Decisions stand in the callers.
#![expect(unsafe_code, reason = "mapping memory, fork and raw system calls have no safe wrapper")]

use super::keeper::{self, Plan};
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::{Pid, ftruncate};
use std::num::NonZeroUsize;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Memory shared with a program that is not trusted: it is only ever seen as atomic words, since the
/// other side may write any of them at any time.
pub(super) struct Mapping {
    start: NonNull<AtomicU32>,
    words: usize,
}

// SAFETY: the mapping is owned, lives until drop, and is only reached through atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above; `&Mapping` gives out only `&[AtomicU32]`.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Fresh memory, zeroed, and the file to hand to the program. It is sealed: a program that cut it
    /// short would otherwise make the simulator die of a bus error.
    pub(super) fn new(words: usize) -> nix::Result<(Self, OwnedFd)> {
        let length = NonZeroUsize::new(words * 4).ok_or(nix::Error::EINVAL)?;
        let file = memfd_create(c"rio", MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?;
        ftruncate(&file, i64::try_from(length.get()).map_err(|_| nix::Error::EFBIG)?)?;
        let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
        fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
        // SAFETY: no address is asked for, so nothing that is mapped already can be replaced.
        let start = unsafe {
            let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
            mmap(None, length, protection, MapFlags::MAP_SHARED, &file, 0)?
        };
        Ok((Self { start: start.cast(), words }, file))
    }

    pub(super) fn words(&self) -> &[AtomicU32] {
        // SAFETY: the mapping is page-aligned, `words * 4` bytes long, cannot shrink, and lives as long
        // as `self`; atomics may be changed by others at any time.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what `new` mapped; no reference outlives `self`.
        let _ = unsafe { munmap(self.start.cast(), self.words * 4) };
    }
}

/// Sleeps while `word` holds `seen`, at most `longest`. May wake for no reason.
pub(super) fn futex_wait(word: &AtomicU32, seen: u32, longest: Duration) {
    let time = libc::timespec {
        tv_sec: libc::time_t::try_from(longest.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: longest.subsec_nanos().into(),
    };
    // SAFETY: the word is valid memory and `time` lives through the call. Not a private futex, since
    // the other side is another process.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, seen, &raw const time) };
}

/// Wakes whoever sleeps on `word`.
pub(super) fn futex_wake(word: &AtomicU32) {
    // SAFETY: the word is valid memory.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
}

/// Makes `command` start its program under a keeper: see `keeper.rs`.
pub(super) fn guard(command: &mut Command, plan: Plan) {
    let split = move || {
        let keeper = Pid::this();
        let gate = plan.counts_tasks().then(gate).flatten();
        // SAFETY: the process was just forked and has one thread; what follows on both sides makes
        // system calls only and allocates nothing, so no lock of a lost thread is ever needed. The raw
        // call (the only one that the gate lets through) leaves libc's idea of the thread's number
        // stale, which nothing here asks for before exec.
        match unsafe { libc::syscall(libc::SYS_clone, KEEPERS_FORK, 0, 0, 0, 0) } {
            0 => keeper::prepare(&plan, keeper),
            child @ 1.. => keeper::keep(&plan, Pid::from_raw(child as i32), gate),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: as said above, `keep` and `prepare` allocate nothing and take no locks.
    unsafe { command.pre_exec(split) };
}

/// Flags of the keeper's own fork; no library forks like that.
const KEEPERS_FORK: libc::c_int = libc::SIGCHLD | libc::CLONE_UNTRACED;

/// What the kernel calls the machine this was built for, and its calls that make tasks.
#[cfg(target_arch = "x86_64")]
const MACHINE: (u32, [i64; 3]) = (0xc000_003e, [libc::SYS_clone3, libc::SYS_fork, libc::SYS_vfork]);
#[cfg(target_arch = "aarch64")]
const MACHINE: (u32, [i64; 3]) = (0xc000_00b7, [libc::SYS_clone3; 3]);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const MACHINE: (u32, [i64; 3]) = (0, [-1; 3]);

/// From here on, every fork and every new thread of this process and all below it waits until the
/// holder of the answered file lets it. `None`: this kernel or container cannot.
fn gate() -> Option<OwnedFd> {
    if MACHINE.0 == 0 {
        return None;
    }
    let load = |offset| (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset);
    let equal = |value, yes, no| (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, yes, no, value);
    let answer = |value| (libc::BPF_RET | libc::BPF_K, 0, 0, value);
    let (machine, [a, b, c]) = MACHINE;
    // Jumps count from the next line. Offsets into `seccomp_data`: number 0, machine 4, argument 16.
    let lines = [
        load(4),
        equal(machine, 0, 7), // a foreign machine's calls pass: they are found by counting
        load(0),
        equal(libc::SYS_clone as u32, 3, 0),
        equal(a as u32, 5, 0),
        equal(b as u32, 4, 0),
        equal(c as u32, 3, 2),
        load(16),
        equal(KEEPERS_FORK as u32, 0, 1),
        answer(libc::SECCOMP_RET_ALLOW),
        answer(libc::SECCOMP_RET_USER_NOTIF),
    ];
    let mut filter = lines.map(|(code, jt, jf, k)| libc::sock_filter { code: code as u16, jt, jf, k });
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    nix::sys::prctl::set_no_new_privs().ok()?;
    // SAFETY: `program` and the filter it points to live through the call; a result that is not
    // negative is a new file, owned by nobody else.
    unsafe {
        let (how, flag) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
        let fd = libc::syscall(libc::SYS_seccomp, how, flag, &raw const program);
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// Lets the next one through the gate, if one waits.
pub(super) fn let_pass(gate: &OwnedFd) {
    // SAFETY: all-zero is what the kernel wants and a value of these plain structs; both live through
    // the calls, and the kernel writes no more than their sizes, which are part of the requests.
    unsafe {
        let mut asked: libc::seccomp_notif = std::mem::zeroed();
        if libc::ioctl(gate.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) == 0 {
            let mut answer: libc::seccomp_notif_resp = std::mem::zeroed();
            answer.id = asked.id;
            answer.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
            libc::ioctl(gate.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer);
        }
    }
}

/// Closes all files but `kept`, in a process that will never run anything of the simulator again.
pub(super) fn close_all_but(mut kept: [RawFd; 3]) {
    kept.sort_unstable();
    let mut from = 0;
    for fd in kept.into_iter().chain([RawFd::MAX]) {
        if fd > from {
            close_range(from, fd - 1, 0);
        }
        from = fd.saturating_add(1);
    }
}

/// Marks all files from 3 on to be closed at exec.
pub(super) fn close_rest_at_exec() {
    close_range(3, RawFd::MAX, libc::CLOSE_RANGE_CLOEXEC);
}

fn close_range(first: RawFd, last: RawFd, flags: u32) {
    // SAFETY: only called between fork and exec, where nobody owns these files any more.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
    if done == 0 {
        return;
    }
    // Kernels before 5.11 cannot; there files are visited one by one.
    for fd in first..last.min(4096) {
        // SAFETY: as above; a number that is no open file is refused and changes nothing.
        unsafe {
            if flags == 0 {
                libc::close(fd);
            } else {
                libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
            }
        }
    }
}

/// A file that becomes readable when a process ends.
pub(super) fn pidfd(pid: Pid) -> Option<OwnedFd> {
    // SAFETY: takes two numbers; a result that is not negative is a new file, owned by nobody else.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0);
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// Raw entries of a directory, into `bytes`; how many bytes, 0 at the end. `readdir` would allocate.
pub(super) fn entries(directory: &OwnedFd, bytes: &mut [u8]) -> usize {
    // SAFETY: the kernel writes at most `bytes.len()` bytes.
    let n = unsafe {
        libc::syscall(libc::SYS_getdents64, directory.as_raw_fd(), bytes.as_mut_ptr(), bytes.len())
    };
    usize::try_from(n).unwrap_or(0)
}

/// Lets signals that are meant for the simulator pass by.
pub(super) fn ignore_signals() {
    for kind in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGPIPE, Signal::SIGQUIT] {
        // SAFETY: ignoring runs no code.
        let _ = unsafe { signal(kind, SigHandler::SigIgn) };
    }
    // SAFETY: the default for SIGCHLD runs no code; were it ignored, nothing could be waited for.
    let _ = unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) };
}

/// Ends this process at once, without running anything the simulator left to be run at its end.
pub(super) fn exit_now() -> ! {
    // SAFETY: never returns and touches no memory.
    unsafe { libc::_exit(0) }
}

/// `SIGSEGV` for 11.
pub(super) fn signal_name(number: i32) -> &'static str {
    Signal::try_from(number).map_or("unknown", Signal::as_str)
}
