//! The class `program`: a controller in a sandbox, from C, C++ or WebAssembly.

use crate::far::{self, program::FarProgram};
use crate::header::c_header;
use crate::wasm::{Budget, Origin, WasmProgram};
use crate::workshop::{Code, Target, Workshop, made_name};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{Built, Class, Kind, Param, ParamType, Policy, Rules, Sheet, ThinkTime, TypeLayout};
use swarmyard_scene::{Params, Value};

/// The class, which finds its code in `workshop`.
#[must_use]
pub(crate) fn class(workshop: &Arc<Workshop>) -> Class {
    let workshop = Arc::clone(workshop);
    Class::new(sheet(), move |p, layout| build(&workshop, p, layout))
}

pub(crate) fn sheet() -> Sheet {
    let sheet = Sheet::new("program", Kind::Controller, "A program in a sandbox, one running copy per robot: C and C++ are compiled to WebAssembly when the run starts, a .wasm file is taken as it is. It peeks and pokes the robot's registers (sdk/c/rio.h). Metered by fuel, so runs repeat exactly.")
        .param(Param::new("source", ParamType::Text, "The source (.c, .cpp) or module (.wasm), in the project: the scenario's folder, or the one above it with a file `swarmyard.project`."))
        .param(Param::new("code", ParamType::Text, "C text, instead of a file."))
        .param(Param::new("fuel", ParamType::Int { min: 0, max: 1_000_000_000_000 }, "Fuel per quantum, about one unit per instruction; 0 is without limit.").or(Value::Int(1_000_000)))
        .param(Param::new("memory", ParamType::Int { min: 0, max: 4_294_967_296 }, "Bytes of memory it may have; 0 is without limit.").or(Value::Int(1_048_576)));
    think(sheet)
        .param(Param::new("on", ParamType::Text, "A host, or what it can do: the program runs in the sandbox there (`run --reach`, docs/many-machines.md). Here when left out, and when no such host can be reached; it changes no result."))
        .param(policy("on_overrun", "hold", "What follows when it runs out of fuel. Under `hold` its step is cut off, and its next begins as usual."))
        .param(policy("on_crash", "halt", "What follows when it crashes. Under `hold` its last commands stay, for ever."))
        .param(policy("on_bad_register", "hold", "What follows, besides the report, when it uses an address without a register."))
        .level("every", "Everything.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[[type.demo.register]]\npart = \"drive\"\nchannel = \"left\"\nat = 0x20\nsigned = true\nscale = 0.001\n\n[[type.demo.register]]\npart = \"drive\"\nchannel = \"right\"\nat = 0x22\nsigned = true\nscale = 0.001\n\n[type.demo.controller]\nclass = \"program\"\ncode = '''\n#include \"rio.h\"\n#include \"registers.h\"\nvoid robot_step(void) { rio_pokes16(DRIVE_LEFT, 100); rio_pokes16(DRIVE_RIGHT, 120); }\n'''")
}

/// The parameters of think time.
pub(crate) fn think(sheet: Sheet) -> Sheet {
    sheet
        .param(Param::number("think", Unit::Second, "How long each decision takes to have effect.").within(0.0, 1.0e6).or_num(0.0))
        .param(Param::number("clock", Unit::Hertz, "Units of fuel per simulated second: when given, a decision takes as long as its fuel lasts, instead of `think`.").within(1.0, 1.0e15))
}

/// A parameter with one of the policies.
pub(crate) fn policy(name: &'static str, default: &str, summary: &'static str) -> Param {
    Param::new(name, ParamType::Choice(Policy::WORDS), summary).or_text(default)
}

/// The rules that parameters say.
pub(crate) fn rules(p: &Params) -> Rules {
    let after = |name: &str| p.text_or_none(name).and_then(Policy::named).unwrap_or(Policy::Hold);
    let fixed = (p.num_or_none("think").unwrap_or(0.0) * 1e9).round() as u64;
    Rules {
        think: p.num_or_none("clock").map_or(ThinkTime::Fixed(fixed), ThinkTime::Fuel),
        on_overrun: after("on_overrun"),
        on_silence: after("on_silence"),
        on_crash: after("on_crash"),
        on_bad_register: after("on_bad_register"),
    }
}

fn build(workshop: &Arc<Workshop>, p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let header = c_header(layout.name, layout.registers);
    let code = code_of(p)?;
    let bytes = workshop.make(code, Target::Sandbox, &header).map_err(|e| does_not_compile(p, code, &e))?;
    let origin = Arc::new(origin(workshop, code, header));
    let program = WasmProgram::new(&bytes, budget(p), rules(p), origin);
    let program = program.map_err(|why| bad_program(p, why))?;
    Ok(Built::Program(match far::place(p)?.zip(workshop.elsewhere()) {
        Some((on, elsewhere)) => Arc::new(FarProgram::new(program, elsewhere, on)),
        None => Arc::new(program),
    }))
}

/// Where the code came from, and how it is made anew when it has changed.
fn origin(workshop: &Arc<Workshop>, code: Code<'_>, header: String) -> Origin {
    let name = made_name(code, Target::Sandbox, &header);
    let source = match code {
        Code::File(file) => workshop.path(file).ok(),
        Code::Text(_) => None,
    };
    let (workshop, owned) = (Arc::clone(workshop), code.to_owned());
    let again = Box::new(move || workshop.remake(owned.borrow(), Target::Sandbox, &header));
    Origin { name, source, again }
}

/// Where a controller's code is.
pub(crate) fn code_of(p: &Params) -> Result<Code<'_>, Diagnostic> {
    match (p.text_or_none("source"), p.text_or_none("code")) {
        (Some(file), None) => Ok(Code::File(file)),
        (None, Some(text)) => Ok(Code::Text(text)),
        _ => Err(Diagnostic::error("missing-key", "a program needs one of `source` and `code`")
            .at(p.span("code").or(p.span("source")))),
    }
}

pub(crate) fn does_not_compile(p: &Params, code: Code<'_>, why: &crate::CompileError) -> Diagnostic {
    let name = match code {
        Code::File(name) => name,
        Code::Text(_) => "the code",
    };
    Diagnostic::error("bad-program", format!("`{name}` does not become a program:\n{why}"))
        .at(p.span("source").or(p.span("code")))
}

fn bad_program(p: &Params, why: String) -> Diagnostic {
    Diagnostic::error("bad-program", why).at(p.span("source").or(p.span("code")))
}

pub(crate) fn budget(p: &Params) -> Budget {
    let unlimited = |name: &str| p.int_or_none(name).filter(|n| *n > 0);
    Budget {
        fuel: unlimited("fuel").map_or(u64::MAX / 2, |n| n as u64),
        memory: unlimited("memory").and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX),
    }
}
