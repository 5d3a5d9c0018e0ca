//! Playback: a robot is where somebody wrote down that it was, at every moment, and what was told of it is told again.
//!
//! In: rows of when, where to, how far it turns, and how long that takes; and notes of what happened. Out: motions that
//! meet the rows exactly, and the notes, which are all that is told of such a robot. It needs a `glider` for ways and
//! `wheels` for turns. Nothing it meets makes it do anything else.

mod told;

use crate::scripted::{Row, rows};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Moment, Vec2, math};
use swarmyard_part_api::{
    Built, Class, Cx, Kind, Microprotocol, Motion, Moving, Param, ParamType, PortSpec, ProtocolModel,
    ProtocolPort, ServiceKind, Sheet,
};
use swarmyard_scene::Params;
use told::Told;

const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);

/// How far it has come.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Memory {
    /// The next row.
    row: usize,
    /// The next note.
    note: usize,
}

struct Playback {
    /// Those of its class; no part of its memory.
    model: Arc<Written>,
    memory: Memory,
}

/// What somebody wrote down.
struct Written {
    /// When, where it is afterwards, how far it turns, how long that takes.
    rows: Vec<Row>,
    notes: Vec<Told>,
}

impl Playback {
    /// When the next row and the next note are due; never when there is none.
    fn due(&self) -> (f64, f64) {
        let row = self.model.rows.get(self.memory.row).map_or(f64::INFINITY, |row| row[0]);
        let note = self.model.notes.get(self.memory.note).map_or(f64::INFINITY, |told| told.time_s);
        (row, note)
    }

    fn wait(&self, cx: &mut Cx<'_>) {
        let (row, note) = self.due();
        let next = math::min(row, note);
        if next.is_finite() {
            let wait = Moment::ZERO.plus(next).since(cx.now());
            cx.set_timer(math::max(wait, 0.0));
        }
    }

    /// Where it was before a row.
    fn before(&self, row: usize) -> Option<Vec2> {
        let &[_, x, y, ..] = self.model.rows.get(row.checked_sub(1)?)?;
        Some(Vec2::new(x, y))
    }

    fn set_out(&mut self, cx: &mut Cx<'_>) {
        let k = self.memory.row;
        let Some(&[_, x, y, turn, for_s]) = self.model.rows.get(k) else { return };
        let way = self.before(k).map_or(Vec2::ZERO, |from| Vec2::new(x, y) - from);
        self.memory.row += 1;
        let tag = self.memory.row as u64;
        if for_s > 0.0 && way != Vec2::ZERO {
            let motion = Motion::Velocity { velocity: way * (1.0 / for_s), for_s };
            cx.go(MOTION, tag, motion);
        } else if for_s > 0.0 && turn != 0.0 {
            cx.go(MOTION, tag, Motion::Arc { speed: 0.0, spin: turn / for_s, for_s });
        }
    }
}

impl Microprotocol for Playback {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.wait(cx);
    }

    fn timer(&mut self, _timer: u64, cx: &mut Cx<'_>) {
        let (row, note) = self.due();
        // All notes of one moment; of rows one, because a motion takes the place of the one before.
        if note <= row {
            let model = Arc::clone(&self.model);
            let now = model.notes[self.memory.note..].iter().take_while(|told| told.time_s <= note);
            for told in now {
                cx.retell(told.robot, told.what.clone());
                self.memory.note += 1;
            }
        }
        if row <= note {
            self.set_out(cx);
        }
        self.wait(cx);
    }

    fn save(&self) -> Vec<u8> {
        swarmyard_part_api::to_bytes(&self.memory)
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        self.memory = swarmyard_part_api::from_bytes(image)?;
        Ok(())
    }
}

struct Model(Arc<Written>);

impl ProtocolModel for Model {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("motion", ServiceKind::Motion)]
    }

    fn retells(&self) -> bool {
        true
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Playback { model: Arc::clone(&self.0), memory: Memory::default() })
    }
}

/// The columns of the rows.
const COLUMNS: &[(&str, Unit)] = &[
    ("t", Unit::Second),
    ("x", Unit::Metre),
    ("y", Unit::Metre),
    ("turn", Unit::Radian),
    ("takes", Unit::Second),
];

/// The class `playback`.
pub(crate) fn class() -> Class {
    let sheet = Sheet::new("playback", Kind::Algorithm, "Is where somebody wrote down that it was: `swarmyard import` makes such robots from a log. Nothing else is told of it than its notes.")
        .param(Param::new("rows", ParamType::Rows(COLUMNS), "Rows of [time, x, y, turn, takes], in ascending order of time: where it is afterwards, how far it turns in place, and how long that takes. The first row is where it begins.").required())
        .param(Param::new("notes", ParamType::Texts, "What is told again, in ascending order of time, of this robot and of others: texts that begin with the time and the number of the robot, such as `12.5 3 said hello` or `0 1 sent 7 2,3 GOTO here`. Other words: `received`, `became`, `wanted`, `asked`, `looks-out`, `pushed`, and those of motions."))
        .param(Param::new("motion", ParamType::Name("protocol"), "Who moves the robot; its motion modules when left out."))
        .example("[[type.demo.part]]\nname = \"glider\"\nclass = \"glider\"\n\n[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[type.demo.algorithm]\nclass = \"playback\"\nrows = [[0, 0, 0, 0, 0], [1, 0, 0, \"90deg\", 2], [3, 0, 1, 0, 4]]\nnotes = [\"1 0 said I turn\"]");
    Class::new(sheet, |params, _| {
        let rows = rows(params, "rows")?;
        Ok(Built::Protocol(Arc::new(Model(Arc::new(Written { rows, notes: notes(params)? })))))
    })
}

fn notes(params: &Params) -> Result<Vec<Told>, Diagnostic> {
    let texts = params.texts_or_none("notes").unwrap_or(&[]);
    let mut notes: Vec<Told> = Vec::with_capacity(texts.len());
    for text in texts {
        let told = Told::read(text).and_then(|told| match notes.last() {
            Some(before) if before.time_s > told.time_s => Err("it comes before the one before it".into()),
            _ => Ok(told),
        });
        notes.push(told.map_err(|why| {
            let shown: String = text.chars().take(60).collect();
            let what = format!("a note cannot be read: {why}: `{shown}`");
            let d = Diagnostic::error("bad-note", what).at(params.span("notes"));
            d.help("time, number of the robot, word, and what belongs to it, such as `12.5 3 said hello`")
        })?);
    }
    Ok(notes)
}
