//! Nothing is left running, however the simulator ends.
//!
//! Between the simulator and every program stands a keeper: a process that does nothing but wait.
//!
//! ```text
//! simulator ──▶ keeper ──▶ program ──▶ whatever it starts
//!     └─ life ────┘  (a pipe: when its other end is closed, the simulator wants the end, or is gone)
//! ```
//!
//! The keeper is a *subreaper*: a process that loses its parent below it becomes its child, also one
//! that called `setsid` or forked twice to get away. When the life pipe closes (which the kernel does
//! even for `kill -9`), when the program ends, or when there are too many tasks, it kills its children
//! until it has none, writes how the program ended into the status pipe, and ends.
//!
//! Why a fork of the simulator, not a program of its own: a library has no second executable it could
//! rely on. The keeper shares the simulator's memory as it was, so it costs address space and the
//! pages the simulator changes later; it allocates nothing and closes every file but its two pipes.
//!
//! Why not a pid namespace or a cgroup: both are stricter, and both are missing for ordinary users on
//! common machines (containers, Ubuntu's user namespaces). A program that *wants* to get away may kill
//! its keeper, since it runs as the same user; the kernel then kills the program, not its descendants.

use super::{Cause, Limits, sys};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl, open};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::stat::Mode;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, getpgid, getppid, read, setsid, write};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command};

/// How often tasks are counted, in milliseconds.
const COUNT_EVERY: u16 = 50;
/// Rounds of killing, a millisecond each; one or two are enough for all but fork bombs.
const ROUNDS: u32 = 3000;

/// Most processes that are looked at one by one; more are always too many.
const FAMILY: usize = 4096;
/// Longest path under /proc that is asked for.
const PATH: usize = 60;

/// Words of the status pipe: the program's pid, then how it ended.
const STARTED: u32 = 0;
const EXITED: u32 = 1;
const SIGNALLED: u32 = 2;
const TASKS: u32 = 3;

/// What keeper and program need to know between fork and exec.
pub(super) struct Plan {
    life: OwnedFd,
    status: OwnedFd,
    /// A file the program keeps open: its shared memory.
    inherit: Option<OwnedFd>,
    limits: Limits,
}

impl Plan {
    pub(super) fn counts_tasks(&self) -> bool {
        self.limits.tasks.is_some()
    }
}

/// A running program and its keeper, seen from the simulator. Dropping it ends both.
pub(super) struct Keeper {
    process: Child,
    life: Option<OwnedFd>,
    status: OwnedFd,
    pid: Pid,
    tasks: u32,
    end: Option<Cause>,
}

impl Keeper {
    /// Starts a program under a keeper.
    pub(super) fn start(mut command: Command, limits: &Limits, inherit: Option<OwnedFd>) -> io::Result<Self> {
        let (life_end, life) = nix::unistd::pipe2(OFlag::O_CLOEXEC)?;
        let (status, status_end) = nix::unistd::pipe2(OFlag::O_CLOEXEC)?;
        let plan = Plan { life: life_end, status: status_end, inherit, limits: limits.clone() };
        sys::guard(&mut command, plan);
        let process = command.spawn()?;
        // The keeper writes the pid before it closes its copy of the pipe that `spawn` waits for.
        let mut message = [0; 8];
        while let n = read(&status, &mut message)
            && n != Ok(message.len())
        {
            if n != Err(Errno::EINTR) {
                return Err(io::Error::other("the keeper did not start"));
            }
        }
        fcntl(&status, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        let (_, pid) = words(message);
        let tasks = limits.tasks.unwrap_or(u32::MAX);
        Ok(Self { process, life: Some(life), status, pid: Pid::from_raw(pid as i32), tasks, end: None })
    }

    /// The program itself.
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Becomes readable when the program is gone.
    pub(super) fn status(&self) -> BorrowedFd<'_> {
        self.status.as_fd()
    }

    /// How the program ended, once it and all that it started are gone.
    pub(super) fn end(&mut self) -> Option<&Cause> {
        if self.end.is_none() {
            let mut message = [0; 8];
            let cause = match read(&self.status, &mut message) {
                Err(Errno::EAGAIN | Errno::EINTR) => return None,
                Ok(8) => match words(message) {
                    (EXITED, code) => Cause::Exited(code as i32),
                    (SIGNALLED, signal) => Cause::Signal(signal as i32),
                    _ => Cause::Tasks(self.tasks),
                },
                _ => Cause::Keeper,
            };
            let _ = self.process.wait();
            self.end = Some(cause);
        }
        self.end.as_ref()
    }

    /// Kills the program and all that it started, and waits until they are gone.
    pub(super) fn kill(&mut self) {
        self.life = None;
        let _ = self.process.wait();
        let _ = self.end();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.kill();
    }
}

fn words(message: [u8; 8]) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = message;
    (u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]))
}

/// In the program's process, before it becomes the program: its own session, limits, few files.
pub(super) fn prepare(plan: &Plan, keeper: Pid) -> io::Result<()> {
    setsid()?;
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    if getppid() != keeper {
        return Err(Errno::ESRCH.into());
    }
    let limits = &plan.limits;
    limit(Resource::RLIMIT_CORE, Some(0), 0)?;
    limit(Resource::RLIMIT_AS, limits.memory_bytes, 0)?;
    limit(Resource::RLIMIT_FSIZE, limits.file_bytes, 0)?;
    limit(Resource::RLIMIT_NOFILE, limits.open_files, 0)?;
    // One second more for the hard limit: first comes SIGXCPU, which says why.
    limit(Resource::RLIMIT_CPU, limits.cpu_seconds, 1)?;
    sys::close_rest_at_exec();
    if let Some(file) = &plan.inherit {
        fcntl(file, FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    Ok(())
}

/// Lowers a limit; never raises one.
fn limit(resource: Resource, value: Option<u64>, slack: u64) -> nix::Result<()> {
    let Some(value) = value else { return Ok(()) };
    let (_, most) = getrlimit(resource)?;
    setrlimit(resource, value.min(most), value.saturating_add(slack).min(most))
}

/// The keeper's whole life.
pub(super) fn keep(plan: &Plan, program: Pid, gate: Option<OwnedFd>) -> ! {
    tell(plan, STARTED, program.as_raw() as u32);
    sys::ignore_signals();
    let _ = setsid();
    let _ = prctl::set_child_subreaper(true);
    let _ = prctl::set_name(c"rio-keeper");
    let (life, status) = (plan.life.as_raw_fd(), plan.status.as_raw_fd());
    sys::close_all_but([life, status, gate.as_ref().map_or(status, |g| g.as_raw_fd())]);
    let too_many = watch(plan, program, gate.as_ref());
    // The group goes first, and at one stroke: no fork can slip through. The program is not waited
    // for yet, so its number cannot have become somebody else's.
    let _ = killpg(program, Signal::SIGKILL);
    let end = end_all(program);
    match (too_many, end) {
        (true, _) => tell(plan, TASKS, 0),
        (false, Some(WaitStatus::Exited(_, code))) => tell(plan, EXITED, code as u32),
        (false, Some(WaitStatus::Signaled(_, signal, _))) => tell(plan, SIGNALLED, signal as u32),
        (false, _) => tell(plan, SIGNALLED, Signal::SIGKILL as u32),
    }
    sys::exit_now()
}

/// Waits until the program ends, the simulator wants the end, or (true) there are too many tasks.
///
/// Where the kernel has a gate, whoever wants to make a task asks here first, so that a fork bomb
/// stands still when it is one too many. Elsewhere tasks are counted now and then.
fn watch(plan: &Plan, program: Pid, gate: Option<&OwnedFd>) -> bool {
    let ended = sys::pidfd(program);
    let most = plan.limits.tasks;
    // Without a pidfd (kernels before 5.3) the end is noticed by looking often.
    let often = most.is_some() && gate.is_none() || ended.is_none();
    let pause = if often { COUNT_EVERY } else { 1000 };
    let mut family = [program; FAMILY];
    loop {
        let files = [&plan.life, ended.as_ref().unwrap_or(&plan.life), gate.unwrap_or(&plan.life)];
        let mut files = files.map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN));
        let _ = poll(&mut files, PollTimeout::from(pause));
        if files[0].any().unwrap_or(true) || buries_orphans_until(program) {
            return false;
        }
        let asked = gate.filter(|_| files[2].any().unwrap_or(false));
        let wanted = u32::from(asked.is_some());
        if most.is_some_and(|most| descendants(&mut family, most).1.saturating_add(wanted) > most) {
            return true;
        }
        if let Some(gate) = asked {
            sys::let_pass(gate);
        }
    }
}

/// Waits for adopted processes that have ended; true when the program itself has. It stays a zombie.
fn buries_orphans_until(program: Pid) -> bool {
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    loop {
        match waitid(Id::All, look) {
            Ok(WaitStatus::StillAlive) => return false,
            Ok(status) if status.pid() == Some(program) => return true,
            Ok(status) => {
                let _ = waitpid(status.pid(), Some(WaitPidFlag::WNOHANG));
            }
            Err(Errno::EINTR) => {}
            Err(_) => return true,
        }
    }
}

/// Kills children until there are none; whoever loses its parent by that is a child in the next round.
fn end_all(program: Pid) -> Option<WaitStatus> {
    let mut end = None;
    let mut family = [program; FAMILY];
    for round in 0..ROUNDS {
        children(Pid::this(), Pid::this(), &mut |child| {
            // A child's number is its own until it is waited for, and its group lies in a session that
            // the program or a descendant of it made: neither can be anybody else's.
            if let Ok(group) = getpgid(Some(child))
                && group != Pid::this()
            {
                let _ = killpg(group, Signal::SIGKILL);
            }
            let _ = kill(child, Signal::SIGKILL);
        });
        // A fork bomb that made a group for each of its processes: generation by generation would take
        // too long. The number of a grandchild is its own for as long as this takes.
        if round >= 10 {
            let (found, _) = descendants(&mut family, u32::MAX);
            for process in &family[..found] {
                let _ = kill(*process, Signal::SIGKILL);
            }
        }
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => break,
                Ok(status) if status.pid() == Some(program) => end = Some(status),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => return end,
            }
        }
        let _ = poll(&mut [], PollTimeout::from(1_u8));
    }
    end
}

/// Finds the processes below this keeper (the program, what it started, what was adopted): how many
/// there are, and how many threads they have. Stops beyond `most` threads, or when `family` is full.
fn descendants(family: &mut [Pid; FAMILY], most: u32) -> (usize, u32) {
    let (mut found, mut done, mut count) = (0, 0, 0_u32);
    children(Pid::this(), Pid::this(), &mut |child| add(family, &mut found, child));
    while done < found && count <= most {
        let process = family[done];
        threads(process, &mut |thread| {
            count += 1;
            // Which thread forked makes no difference to us, but /proc lists by thread.
            children(process, thread, &mut |child| add(family, &mut found, child));
        });
        done += 1;
    }
    (found, if found == FAMILY { u32::MAX } else { count })
}

fn add(family: &mut [Pid; FAMILY], found: &mut usize, child: Pid) {
    if let Some(place) = family.get_mut(*found) {
        *place = child;
        *found += 1;
    }
}

/// The threads of a process.
fn threads(pid: Pid, each: &mut dyn FnMut(Pid)) {
    let mut buffer = [0; PATH];
    let path = path(&mut buffer, format_args!("/proc/{pid}/task"));
    let how = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let Ok(directory) = open(path, how, Mode::empty()) else { return };
    let mut bytes = [0; 4096];
    while let n @ 1.. = sys::entries(&directory, &mut bytes) {
        let mut rest = &bytes[..n];
        // An entry: inode 8, offset 8, length 2, kind 1, then the name, with a zero at its end.
        while let Some(&[low, high]) = rest.get(16..18) {
            let length = usize::from(u16::from_ne_bytes([low, high])).clamp(19, rest.len().max(19));
            let name = rest.get(19..length).unwrap_or(&[]);
            let digits = name.iter().take_while(|b| b.is_ascii_digit());
            let number = digits.fold(0_i32, |n, b| n.saturating_mul(10).saturating_add(i32::from(b - b'0')));
            if number > 0 {
                each(Pid::from_raw(number));
            }
            rest = rest.get(length..).unwrap_or(&[]);
        }
    }
}

/// The children that a thread of a process has made.
fn children(pid: Pid, thread: Pid, each: &mut dyn FnMut(Pid)) {
    let mut buffer = [0; PATH];
    let path = path(&mut buffer, format_args!("/proc/{pid}/task/{thread}/children"));
    let Ok(file) = open(path, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty()) else { return };
    let (mut number, mut bytes) = (0_i32, [0; 1024]);
    while let Ok(n @ 1..) = read(&file, &mut bytes) {
        for byte in &bytes[..n] {
            if byte.is_ascii_digit() {
                number = number.saturating_mul(10).saturating_add(i32::from(byte - b'0'));
            } else if number > 0 {
                each(Pid::from_raw(number));
                number = 0;
            }
        }
    }
}

/// A path in a buffer: nothing here may allocate.
fn path<'a>(buffer: &'a mut [u8; PATH], text: std::fmt::Arguments<'_>) -> &'a [u8] {
    let mut rest = &mut buffer[..];
    let _ = rest.write_fmt(text);
    let length = PATH - rest.len();
    &buffer[..length]
}

fn tell(plan: &Plan, what: u32, value: u32) {
    let mut message = [0; 8];
    message[..4].copy_from_slice(&what.to_ne_bytes());
    message[4..].copy_from_slice(&value.to_ne_bytes());
    let _ = write(&plan.status, &message);
}
