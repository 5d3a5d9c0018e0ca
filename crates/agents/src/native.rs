//! The class `process`: a controller that is a native program, in any language.

use crate::header::c_header;
use crate::process::{Access, Launch, Limits, Register, Span, Transport};
use crate::program::{code_of, does_not_compile, policy, rules};
use crate::workshop::{Code, Target, Workshop, is_source};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use swarmyard_base::Diagnostic;
use swarmyard_base::hash::{bytes_hash, mix64};
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Built, Class, Kind, Outside, Param, ParamType, RegisterMap, Rules, Sheet, ThinkTime, TypeLayout,
};
use swarmyard_scene::{Params, Value};

/// The class, which finds its code in `workshop`.
#[must_use]
pub(crate) fn class(workshop: &Arc<Workshop>) -> Class {
    let workshop = Arc::clone(workshop);
    Class::new(sheet(), move |p, layout| build(&workshop, p, layout))
}

const TRANSPORTS: &[&str] = &["shared", "pipes", "lines"];

pub(crate) fn sheet() -> Sheet {
    Sheet::new("process", Kind::Controller, "A native program, one process per robot: C and C++ are compiled for this machine when the run starts; any other file is a program that is started as it stands (a script needs its `#!` line). It peeks and pokes the robot's registers (sdk/c, sdk/python, sdk/prolog, docs/register-protocol.md). What it decides enters the journal, so a recording replays exactly.")
        .param(Param::new("source", ParamType::Text, "The source (.c, .cpp) or the program, in the project."))
        .param(Param::new("code", ParamType::Text, "C text, instead of a file."))
        .param(Param::new("on", ParamType::Text, "The host it runs on, by its name or what it can do; left out, here. `source` is then what that host calls it, and `think` must be given. It may be silent for five seconds more, and the host's limits count (docs/many-machines.md)."))
        .param(Param::new("arguments", ParamType::Texts, "What it is started with.").or(Value::Texts(Vec::new())))
        .param(Param::new("transport", ParamType::Choice(TRANSPORTS), "How it talks: `shared` memory or `pipes` for C, `lines` of text for anything else. For C `shared` when left out, for the rest `lines`."))
        .param(Param::number("think", Unit::Second, "How long each decision takes to have effect. When left out, the processor time it took, as measured.").within(0.0, 1.0e6))
        .param(Param::number("patience", Unit::Second, "How long it may be silent, on the clock; 0 waits for ever.").within(0.0, 1.0e6).or_num(1.0))
        .param(Param::new("memory", ParamType::Int { min: 0, max: i64::MAX }, "Bytes of memory it may have; 0 is without limit.").or(Value::Int(4 << 30)))
        .param(Param::new("tasks", ParamType::Int { min: 0, max: 1_000_000 }, "Processes and threads it may have; 0 is without limit.").or(Value::Int(64)))
        .param(policy("on_silence", "hold", "What follows when it is silent for longer. Under `hold` its last commands stay until it answers again."))
        .param(policy("on_crash", "halt", "What follows when it ends or breaks the protocol. Under `hold` its last commands stay, for ever."))
        .param(policy("on_bad_register", "hold", "What follows, besides the report, when it uses an address without a register."))
        .level("every", "Everything.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[[type.demo.register]]\npart = \"drive\"\nchannel = \"left\"\nat = 0x20\nsigned = true\nscale = 0.001\n\n[type.demo.controller]\nclass = \"process\"\nthink = 0\ncode = '''\n#include \"rio.h\"\n#include \"registers.h\"\nvoid robot_step(void) { rio_pokes16(DRIVE_LEFT, 100); }\n'''")
}

/// A native program as a scenario has it.
pub(crate) struct NativeModel {
    rules: Rules,
    /// Hash of what is started and how, as the scenario has it.
    code: u64,
    /// What whoever runs it has to know; it may be needed where the model is not.
    pub(crate) native: Arc<Native>,
}

/// How a native program is run.
pub(crate) struct Native {
    /// How long it may be silent; `None` for ever.
    pub(crate) patience: Option<Duration>,
    /// What to start; an error where there are no files, as in a replay.
    pub(crate) start: Result<Start, String>,
}

/// What to start.
pub(crate) struct Start {
    /// A program that was made here, as bytes; else a file.
    pub(crate) made: Option<Arc<Vec<u8>>>,
    pub(crate) launch: Launch,
}

impl Outside for NativeModel {
    fn rules(&self) -> Rules {
        self.rules
    }

    fn code(&self) -> u64 {
        self.code
    }
}

fn build(workshop: &Workshop, p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let code = code_of(p)?;
    let mut rules = rules(p);
    if p.num_or_none("think").is_none() {
        rules.think = ThinkTime::Measured;
    }
    let patience = patience(p);
    let identity = identity(p, code, layout);
    let model = |start| {
        let native = Arc::new(Native { patience, start });
        Ok(Built::Outside(Box::new(NativeModel { rules, code: identity, native })))
    };
    if let Some(on) = p.text_or_none("on") {
        return model(on_host(workshop, p, layout, (on, code))?);
    }
    let (Code::File(name), Some(folder)) = (code, workshop.folder()) else {
        // A text is made anywhere; a file not where there are none: then the journal must do.
        return match code {
            Code::Text(_) => model(Ok(made(workshop, p, code, layout)?)),
            Code::File(name) => model(Err(format!("there are no files here to start `{name}` from"))),
        };
    };
    if is_source(name) {
        return model(Ok(made(workshop, p, code, layout)?));
    }
    let (program, cwd) = startable(workshop, folder, p, name)?;
    model(Ok(Start { made: None, launch: launch(p, layout.registers, program, cwd, Transport::Lines) }))
}

/// How long a program may be silent; `None` for ever. One on another host has to be reached first.
pub(crate) fn patience(p: &Params) -> Option<Duration> {
    let way = if p.text_or_none("on").is_some() { 5.0 } else { 0.0 };
    let patience = Some(p.num_or_none("patience").unwrap_or(1.0)).filter(|s| *s > 0.0);
    patience.map(|s| Duration::from_secs_f64(s + way))
}

/// A controller on another host.
fn on_host(
    workshop: &Workshop,
    p: &Params,
    layout: &TypeLayout<'_>,
    (on, code): (&str, Code<'_>),
) -> Result<Result<Start, String>, Diagnostic> {
    let wrong = |param: &str, what: &str| Diagnostic::error("on-host", what).at(p.span(param));
    let Code::File(name) = code else {
        return Err(wrong("code", "a program on another host is there already: `source` is its name there"));
    };
    if p.num_or_none("think").is_none() {
        let d = wrong("on", "`think` must be given for a program on another host");
        let help =
            "its processor time is not measured here: write how long a decision takes, such as think = 0";
        return Err(d.help(help));
    }
    if p.text_or_none("transport") == Some("shared") {
        return Err(wrong("transport", "no memory is shared with another host: `pipes` or `lines`"));
    }
    let launch = elsewhere(workshop, p, layout.registers, (on, name))?;
    Ok(launch.map(|launch| Start { made: None, launch }))
}

/// A program on another host: what is started here is a process that stands for it; an error where nobody said how hosts
/// are reached, as in a replay.
pub(crate) fn elsewhere(
    workshop: &Workshop,
    p: &Params,
    map: &RegisterMap,
    (on, name): (&str, &str),
) -> Result<Result<Launch, String>, Diagnostic> {
    let wrong = |param: &str, what: &str| Diagnostic::error("on-host", what).at(p.span(param));
    if name.contains('/') {
        return Err(wrong("source", "with `on`, `source` is what the host calls the program, and no path"));
    }
    crate::far::place(p)?;
    let Some(command) = workshop.elsewhere() else {
        return Ok(Err(format!(
            "`{name}` runs on `{on}`, and nobody said where hosts are: `swarmyard run --reach NAME=HOST:PORT`"
        )));
    };
    let folder = workshop.folder().map_or_else(std::env::temp_dir, PathBuf::from);
    let cwd = std::path::absolute(&folder).unwrap_or(folder);
    let mut launch = launch(p, map, command.program.clone(), cwd, Transport::Lines);
    let words = ["--", on, name].map(str::to_owned);
    launch.args = command.words.iter().cloned().chain(words).chain(launch.args).collect();
    // Those of the program are its host's business; what stands for it here is this program itself.
    (launch.limits.memory_bytes, launch.limits.tasks) = (None, None);
    launch.meter = Some(command.prices.meter(on));
    Ok(Ok(launch))
}

/// A program of the project that is started as it stands, and the folder it works in: both absolute.
pub(crate) fn startable(
    workshop: &Workshop,
    folder: &Path,
    p: &Params,
    name: &str,
) -> Result<(PathBuf, PathBuf), Diagnostic> {
    let path = workshop.path(name).map_err(|e| does_not_compile(p, Code::File(name), &e))?;
    let about = std::fs::metadata(&path).map_err(|e| {
        Diagnostic::error("no-file", format!("cannot start `{name}`: {e}")).at(p.span("source"))
    })?;
    if !is_executable(&about) {
        let d = Diagnostic::error("not-a-program", format!("`{name}` is not a program that can be started"));
        return Err(d.at(p.span("source")).help(format!(
            "make it one with `chmod +x {name}`; a script also needs a first line such as `#!/usr/bin/env python3`"
        )));
    }
    let program = std::path::absolute(&path).unwrap_or(path);
    let cwd = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    Ok((program, cwd))
}

/// Hash of what is started and how, without what may not be here: the bytes of files.
fn identity(p: &Params, code: Code<'_>, layout: &TypeLayout<'_>) -> u64 {
    let (kind, code) = match code {
        Code::File(name) => ("file", name),
        Code::Text(text) => ("text", text),
    };
    let header = c_header(layout.name, layout.registers);
    let arguments = p.texts_or_none("arguments").unwrap_or(&[]).iter().map(String::as_str);
    let words = [kind, code, &header, p.text_or_none("transport").unwrap_or("")].into_iter().chain(arguments);
    words.fold(0, |sum, word| mix64(sum ^ bytes_hash(word.as_bytes())))
}

#[cfg(unix)]
fn is_executable(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    about.is_file() && about.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(about: &std::fs::Metadata) -> bool {
    about.is_file()
}

/// A program made from C.
fn made(
    workshop: &Workshop,
    p: &Params,
    code: Code<'_>,
    layout: &TypeLayout<'_>,
) -> Result<Start, Diagnostic> {
    let header = c_header(layout.name, layout.registers);
    let bytes = workshop.make(code, Target::Native, &header).map_err(|e| does_not_compile(p, code, &e))?;
    let cwd = workshop.folder().map_or_else(std::env::temp_dir, PathBuf::from);
    let cwd = std::path::absolute(&cwd).unwrap_or(cwd);
    let launch = launch(p, layout.registers, PathBuf::new(), cwd, Transport::Shared);
    Ok(Start { made: Some(bytes), launch })
}

pub(crate) fn launch(
    p: &Params,
    map: &RegisterMap,
    program: PathBuf,
    cwd: PathBuf,
    usual: Transport,
) -> Launch {
    let limit = |name: &str| p.int_or_none(name).filter(|n| *n > 0).map(|n| n as u64);
    Launch {
        program,
        args: p.texts_or_none("arguments").unwrap_or(&[]).to_vec(),
        cwd,
        env: Vec::new(),
        spans: map.all().iter().map(span).collect(),
        registers: map.all().iter().map(named).collect(),
        image_len: map.image_len(),
        transport: match p.text_or_none("transport") {
            Some("shared") => Transport::Shared,
            Some("pipes") => Transport::Pipes,
            Some("lines") => Transport::Lines,
            _ => usual,
        },
        limits: Limits {
            memory_bytes: limit("memory"),
            tasks: limit("tasks").and_then(|n| u32::try_from(n).ok()),
            ..Limits::default()
        },
        tick_us: 0,
        meter: None,
    }
}

fn span(r: &swarmyard_part_api::Register) -> Span {
    let access = match (r.is_port(), r.is_command()) {
        (true, _) => Access::Port,
        (_, true) => Access::Write,
        _ => Access::Read,
    };
    Span { address: r.at, bytes: r.bytes * r.count, offset: r.image as u32, access }
}

fn named(r: &swarmyard_part_api::Register) -> Register {
    Register {
        name: r.name.replace(char::is_whitespace, "_"),
        at: r.at,
        bytes: r.bytes,
        count: r.count,
        signed: r.signed,
        scale: r.scale,
        offset: r.offset,
        unit: r.unit.to_owned(),
    }
}
