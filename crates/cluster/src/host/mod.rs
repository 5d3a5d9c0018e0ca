//! A host: lends its machine to runs of others.
//!
//! In: questions under `swarm/host/NAME/…`. Out: what is lent and what runs (`info`), a worker process for a run
//! (`start`) and its end (`stop`), a program whose pipes lead to a [`crate::sister`] (`open`). `swarm/host/NAME/live`
//! shows that the host is there.
//!
//! What never happens: more workers and programs than slots; one for a build of another version or other numerics; one
//! that outlives the host; a program that the owner did not allow. A host that lends idle time only ([`Idle`]) ends
//! them all when its owner needs the machine; runs and chains go on elsewhere, as after any loss.

pub(crate) mod head;
mod idle;
mod others;
pub(crate) mod programs;
mod speech;

pub use idle::{Idle, load_average};
pub use programs::{Modules, Piped, ProgramEnd, Programs, RELAY, Relays};
pub(crate) use speech::{Begin, Begun, End, info_key, live_key, start_key, stop_key};
pub use speech::{Identity, Info, Running};

use crate::message::{read, write};
use crate::staff::{Launch, Process};
use programs::{Open, Opened, Program, input_key, open_key, output_key, sister_of, sisters};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use swarmyard_fabric::access::check_name;
use swarmyard_fabric::{Fabric, Handle, Lost};

/// What a host lends, and to whom.
pub struct Lending {
    /// Its name.
    pub name: String,
    /// How many workers and programs it takes.
    pub slots: u32,
    /// What it can do that others cannot, such as `display`.
    pub can: Vec<String>,
    /// Programs that others may start here.
    pub programs: Programs,
    /// What it computes with.
    pub identity: Identity,
    /// How workers are started.
    pub launch: Launch,
    /// When it lends idle time only.
    pub idle: Option<Idle>,
}

/// A machine that is lent, until this is dropped.
pub struct Host {
    yard: Arc<Yard>,
    _handles: Vec<Handle>,
    /// What the handles belong to.
    _fabric: Arc<dyn Fabric>,
}

/// What the answers of a host are made from.
struct Yard {
    lending: Lending,
    books: Mutex<Books>,
    /// Not kept alive by its own answers.
    fabric: Weak<dyn Fabric>,
}

/// Who is here.
#[derive(Default)]
struct Books {
    /// Workers by run and number.
    workers: BTreeMap<(u64, u32), (Process, u32)>,
    /// Programs by number, with the answers to their sisters.
    programs: BTreeMap<u64, (Arc<Program>, [Handle; 2])>,
    /// Those of both that are being started.
    starting: u32,
    /// Whether the owner needs the machine.
    withdrawn: bool,
    /// Whether the host is gone.
    is_over: bool,
    /// What is to be told to the owner.
    news: Vec<String>,
}

impl Host {
    /// Lends a machine over a fabric.
    ///
    /// # Errors
    /// A name that is none, or a fabric that is lost.
    pub fn open(fabric: Arc<dyn Fabric>, lending: Lending) -> Result<Host, Lost> {
        let name = lending.name.clone();
        check_name(&name).map_err(|why| Lost::Failed { what: "lend this machine".into(), why })?;
        let yard = Arc::new(Yard { lending, books: Mutex::default(), fabric: Arc::downgrade(&fabric) });
        let (asked, started, stopped) = (Arc::clone(&yard), Arc::clone(&yard), Arc::clone(&yard));
        let info = fabric.answer(
            &info_key(&name),
            Box::new(move |_, _| Some(head::with_head(&asked.lending.identity, &asked.info()))),
        )?;
        let start = fabric.answer(
            &start_key(&name),
            Box::new(move |_, question| {
                let begin = head::asked(&started.lending.identity, question, "order to start a worker");
                let answer = begin.and_then(|begin| started.start(&begin));
                if let Err(why) = &answer {
                    lock(&started.books).news.push(format!("a worker was refused: {why}"));
                }
                Some(write(&answer))
            }),
        )?;
        let stop = fabric.answer(
            &stop_key(&name),
            Box::new(move |_, question| {
                let End { run, number } = read(question)?;
                Some(write(&stopped.stop(run, number)))
            }),
        )?;
        let (opened, left) = (Arc::clone(&yard), Arc::clone(&yard));
        let open = fabric.answer(
            &open_key(&name),
            Box::new(move |_, question| {
                let open = head::asked(&opened.lending.identity, question, "order to start a program");
                let answer = open.and_then(|open| opened.open(&open));
                if let Err(why) = &answer {
                    lock(&opened.books).news.push(format!("a program was refused: {why}"));
                }
                Some(write(&answer))
            }),
        )?;
        let watch = fabric.watch(
            &sisters(&name),
            Box::new(move |key, is_alive| {
                if let Some(id) = sister_of(key).filter(|_| !is_alive) {
                    left.sister_is_gone(id);
                }
            }),
        )?;
        let live = fabric.live(&live_key(&name))?;
        Ok(Host { yard, _handles: vec![info, start, stop, open, watch, live], _fabric: fabric })
    }

    /// What it lends now, and what runs.
    #[must_use]
    pub fn info(&self) -> Info {
        self.yard.info()
    }

    /// Looks after workers and programs: those that have ended make room, those that nobody needs are ended, and all
    /// end when the owner needs the machine. To be called several times per second. Answers what has happened, for
    /// the owner.
    #[must_use]
    pub fn tend(&self) -> Vec<String> {
        let Yard { lending, books, .. } = &*self.yard;
        // Dropped at the end: an answer that goes on is not waited for while the books are locked.
        let _forgotten = self.yard.tend_programs();
        let mut books = lock(books);
        let Books { workers, news, .. } = &mut *books;
        workers.retain(|(run, number), (process, _)| {
            let is_there = process.is_there();
            if !is_there {
                news.push(format!("worker {number} of run {run} has ended"));
            }
            is_there
        });
        if let Some(idle) = &lending.idle {
            let own: u32 = books.workers.values().map(|w| w.1).sum::<u32>() + books.programs();
            let was = books.withdrawn;
            books.withdrawn = idle.needs_it(own);
            if books.withdrawn && !was {
                let gone = std::mem::take(&mut books.workers).len() as u32 + books.programs();
                books.programs.values().for_each(|p| p.0.end("its owner needs the machine"));
                books.news.push(format!("the owner needs the machine: {gone} workers are withdrawn"));
            } else if was && !books.withdrawn {
                books.news.push("the machine is idle again, and lent".to_owned());
            }
        }
        std::mem::take(&mut books.news)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let mut books = lock(&self.yard.books);
        books.is_over = true;
        books.workers.clear();
        let programs = std::mem::take(&mut books.programs);
        drop(books);
        programs.values().for_each(|p| p.0.end("its host ends"));
    }
}

impl Books {
    /// Programs that run.
    fn programs(&self) -> u32 {
        self.programs.values().filter(|p| p.0.is_running()).count() as u32
    }

    /// Whether there is room for one more; it is taken then.
    fn take_slot(&mut self, slots: u32) -> Result<(), String> {
        self.workers.retain(|_, (process, _)| process.is_there());
        if self.withdrawn || self.is_over {
            return Err("its owner needs the machine".to_owned());
        }
        if self.taken() >= slots {
            return Err(format!("all its {slots} slots are taken"));
        }
        self.starting += 1;
        Ok(())
    }

    /// Slots that are taken.
    fn taken(&self) -> u32 {
        self.workers.len() as u32 + self.programs() + self.starting
    }
}

fn lock(books: &Mutex<Books>) -> MutexGuard<'_, Books> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Yard {
    fn info(&self) -> Info {
        let books = lock(&self.books);
        let running = books.workers.iter().map(|(&(run, worker), (process, threads))| Running {
            run,
            worker,
            pid: process.pid,
            endpoint: process.endpoint.clone(),
            threads: *threads,
        });
        let lent = if books.withdrawn { 0 } else { self.lending.slots };
        let programs = books.programs.values().filter(|p| p.0.is_running());
        Info {
            name: self.lending.name.clone(),
            identity: self.lending.identity.clone(),
            slots: self.lending.slots,
            free: lent.saturating_sub(books.taken()),
            is_withdrawn: books.withdrawn,
            can: self.lending.can.clone(),
            load: load_average(),
            arch: std::env::consts::ARCH.to_owned(),
            running: running.collect(),
            allows: self.lending.programs.names(),
            programs: programs.map(|p| p.0.stats()).collect(),
        }
    }

    /// Starts a worker, or says why not.
    fn start(&self, begin: &Begin) -> Result<Begun, String> {
        begin.check()?;
        self.lending.identity.refuse(&begin.identity)?;
        let (run, number) = (begin.job.run, begin.job.number);
        {
            let mut books = lock(&self.books);
            books.take_slot(self.lending.slots)?;
            if books.workers.contains_key(&(run, number)) {
                books.starting -= 1;
                return Err(format!("worker {number} of run {run} is here already"));
            }
        }
        // Not while others wait for the books: a worker takes its time to begin.
        let most = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let mut job = begin.job.clone();
        job.threads = job.threads.clamp(1, most);
        let started = self.lending.launch.start(&job);
        let mut books = lock(&self.books);
        books.starting -= 1;
        let process = started?;
        if books.is_over || books.withdrawn {
            return Err("its owner needs the machine".to_owned());
        }
        let begun = Begun { endpoint: process.endpoint.clone(), pid: process.pid };
        books.news.push(format!("worker {number} of run {run} begins: process {}", process.pid));
        books.workers.insert((run, number), (process, job.threads));
        Ok(begun)
    }

    /// Ends a worker; whether it was here.
    fn stop(&self, run: u64, number: u32) -> bool {
        let gone = lock(&self.books).workers.remove(&(run, number));
        gone.is_some()
    }

    /// Starts a program, or says why not.
    fn open(&self, open: &Open) -> Result<Opened, String> {
        open.check()?;
        self.lending.identity.refuse(&open.identity)?;
        let command = self.lending.programs.command(open, self.lending.launch.idle)?;
        {
            let mut books = lock(&self.books);
            // The answer may have been lost.
            if let Some((known, _)) = books.programs.get(&open.id) {
                let is_same = known.is_of(open.secret);
                let taken = || "another program has this number".to_owned();
                return is_same.then(|| Opened { pid: known.pid() }).ok_or_else(taken);
            }
            books.take_slot(self.lending.slots)?;
        }
        let started = Program::start(command, open).and_then(|p| Ok((self.answers(&p)?, p)));
        let mut books = lock(&self.books);
        books.starting -= 1;
        let (answers, program) = started?;
        if books.is_over || books.withdrawn {
            drop(books);
            program.end("its owner needs the machine");
            return Err("its owner needs the machine".to_owned());
        }
        let pid = program.pid();
        let name = &open.words[0];
        books.news.push(format!("program `{name}` begins: process {pid}"));
        books.programs.insert(open.id, (program, answers));
        Ok(Opened { pid })
    }

    /// What a program's sister asks. One key for each direction: who waits for output holds up no input.
    fn answers(&self, program: &Arc<Program>) -> Result<[Handle; 2], String> {
        let answer = |key: String, reply: fn(&Program, &[u8]) -> Option<Vec<u8>>| -> Result<Handle, String> {
            let program = Arc::clone(program);
            let fabric = self.fabric.upgrade().ok_or("the host ends")?;
            let replier = Box::new(move |_: &str, question: &[u8]| reply(&program, question));
            fabric.answer(&key, replier).map_err(|e| e.to_string())
        };
        let (host, id) = (&self.lending.name, program.id);
        let both = answer(input_key(host, id), Program::give)
            .and_then(|give| Ok([give, answer(output_key(host, id), Program::take)?]));
        both.inspect_err(|_| program.end("it cannot be reached"))
    }

    /// Ends a program whose sister has left.
    fn sister_is_gone(&self, id: u64) {
        let program = lock(&self.books).programs.get(&id).map(|p| Arc::clone(&p.0));
        if let Some(program) = program {
            program.end("its sister is gone");
        }
    }

    /// Looks after the programs. Answers those that are forgotten.
    fn tend_programs(&self) -> Vec<(Arc<Program>, [Handle; 2])> {
        let all: Vec<Arc<Program>> = lock(&self.books).programs.values().map(|p| Arc::clone(&p.0)).collect();
        let mut forgotten = Vec::new();
        for program in all {
            let (is_forgotten, told) = program.tend();
            let mut books = lock(&self.books);
            books.news.extend(told);
            if is_forgotten {
                // Its threads learn that nobody will ask any more.
                program.end("it is forgotten");
                forgotten.extend(books.programs.remove(&program.id));
            }
        }
        forgotten
    }
}
