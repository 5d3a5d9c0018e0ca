//! What a run shows to whoever asks, and what it can be told.
//!
//! In: paths of robots and parts. Out: poses, channels, registers, marks; or an input for the journal, which counts from the
//! next step on: while one is under way, from the one after it. Never: a step.

use super::{Error, Sim};
use std::path::Path;
use std::sync::Arc;
use swarmyard_base::{Diagnostic, Pose2, Ratio, Sources, Time, Twist2};
use swarmyard_engine::{BusAccess, ControllerKind, InputKind, PartKind};
use swarmyard_part_api::{BadAccess, Detail, Mark, RegisterFile};

impl Sim {
    /// Simulated time now.
    #[must_use]
    pub fn now(&self) -> Time {
        self.state.now
    }

    /// Pose of a robot or moving obstacle, by path; on workers where it was when bodies were last brought home
    /// ([`Sim::gather`]).
    #[must_use]
    pub fn pose(&self, path: &str) -> Option<Pose2> {
        self.model.slot_of_path(path).map(|slot| self.state.pose[slot])
    }

    /// Velocity of a robot or moving obstacle in its own frame, by path; on workers as of when bodies were last brought home.
    #[must_use]
    pub fn twist(&self, path: &str) -> Option<Twist2> {
        self.model.slot_of_path(path).map(|slot| self.state.twist[slot])
    }

    /// A channel of a part, such as `("/robots/r1/rays", "range")`; on workers as of when bodies were last brought home.
    #[must_use]
    pub fn channel(&self, part: &str, channel: &str) -> Option<&[f64]> {
        let (slot, t, p) = self.part(part).ok()?;
        let layout = &self.model.types[t].parts[p].layout;
        let (first, len) = layout.place(channel)?;
        let columns = &self.state.types[t].parts[p];
        let command = layout.channels.iter().any(|c| c.name == channel && c.command);
        let (data, width) = if command {
            (&columns.commands, layout.command_width())
        } else {
            (&columns.readings, layout.reading_width())
        };
        let row = (slot - self.model.types[t].slots.start) * width + first;
        data.get(row..row + len)
    }

    /// What displays draw for a robot's parts, in its own frame: (name of the part, marks).
    #[must_use]
    pub fn marks(&self, robot: &str) -> Vec<(&str, Vec<Mark>)> {
        let Some(slot) = self.model.slot_of_path(robot) else { return Vec::new() };
        let t = self.model.type_of[slot] as usize;
        let ty = &self.model.types[t];
        let row = slot - ty.slots.start;
        let parts = ty.parts.iter().zip(&self.state.types[t].parts);
        let marks = parts.filter_map(|(part, columns)| {
            let width = part.layout.reading_width();
            let readings = &columns.readings[row * width..(row + 1) * width];
            let outline = self.model.outline(slot);
            let marks = match &part.kind {
                PartKind::Sensor(sensor, _) => sensor.marks(readings, outline),
                // Most actuators draw nothing, ever: those are left out.
                PartKind::Actuator(actuator) => {
                    Some(actuator.marks(readings, outline)).filter(|m| !m.is_empty())?
                }
            };
            Some((part.name.as_str(), marks))
        });
        marks.collect()
    }

    /// Sets a command channel from the next step on. It enters the journal.
    ///
    /// # Errors
    /// When there is no such part or channel, or the numbers do not fit.
    pub fn command(&mut self, part: &str, channel: &str, values: &[f64]) -> Result<(), Error> {
        let (slot, t, p) = self.part(part)?;
        let layout = &self.model.types[t].parts[p].layout;
        let commands = layout.channels.iter().filter(|c| c.command).map(|c| c.name);
        let place = layout.place(channel).filter(|_| commands.clone().any(|c| c == channel));
        let Some((first, len)) = place else {
            let what = format!("`{part}` has no command channel `{channel}`");
            return Err(Error::Wrong(Diagnostic::error("unknown-channel", what).suggest(channel, commands)));
        };
        if values.len() != len {
            let what = format!("channel `{channel}` takes {len} numbers, got `{}`", values.len());
            return Err(Error::Wrong(Diagnostic::error("wrong-length", what).on(part)));
        }
        let kind = InputKind::Command {
            robot: self.model.uids[slot],
            part: p as u32,
            first: first as u32,
            values: values.to_vec(),
        };
        self.journal.push(self.entrance(), kind);
        Ok(())
    }

    /// Reads 1, 2 or 4 bytes of a robot's registers, little-endian, as they were latched at the start
    /// of the last quantum. A misaligned or unmapped access reads zero there and says so.
    ///
    /// # Errors
    /// When there is no such robot, or the width is none of these.
    pub fn peek(&self, robot: &str, address: u32, bytes: u32) -> Result<(u32, Option<BadAccess>), Error> {
        let mut registers = self.registers(robot, bytes)?.1;
        let value = registers.peek(address, bytes);
        Ok((value, registers.bad().first().map(|access| access.why)))
    }

    /// Writes 1, 2 or 4 bytes of a robot's registers, little-endian, from the next step on; it enters
    /// the journal. What cannot be written is left alone and said.
    ///
    /// # Errors
    /// When there is no such robot, or the width is none of these.
    pub fn poke(
        &mut self,
        robot: &str,
        address: u32,
        bytes: u32,
        value: u32,
    ) -> Result<Option<BadAccess>, Error> {
        let (slot, mut registers) = self.registers(robot, bytes)?;
        registers.poke(address, bytes, value);
        let bad = registers.bad().first().map(|access| access.why);
        let poke = BusAccess { address, bytes: bytes as u8, write: Some(value) };
        self.journal.push(self.entrance(), InputKind::Poke(self.model.uids[slot], poke));
        Ok(bad)
    }

    /// Goes on without a robot's commands once, although its controller waits for them.
    ///
    /// # Errors
    /// When there is no such robot.
    pub fn skip(&mut self, path: &str) -> Result<(), Error> {
        let slot = self.slot(path)?;
        self.journal.push(self.entrance(), InputKind::Skip(self.model.uids[slot]));
        Ok(())
    }

    /// Ends the native programs of a robot at once. When they are next asked they are started again, and
    /// run through what they were shown before. Tells whether there were any.
    ///
    /// # Errors
    /// When there is no such robot.
    pub fn restart(&mut self, path: &str) -> Result<bool, Error> {
        let slot = self.slot(path)?;
        Ok(self.crew.dismiss(self.model.uids[slot]))
    }

    /// The file a controller's code was made from, when it may be edited and made anew.
    #[must_use]
    pub fn source(&self, ty: &str, controller: &str) -> Option<&Path> {
        let (t, c) = self.controller(ty, controller).ok()?;
        match &self.model.types[t].controllers[c].model {
            ControllerKind::Program(program) => program.source(),
            _ => None,
        }
    }

    /// Makes a controller's code anew from its source; from the next step on every robot of the type
    /// runs it, from its setup on. World and registers stay. It enters the journal.
    ///
    /// Answers the hash of the code.
    ///
    /// # Errors
    /// What the compiler says; the old code goes on.
    pub fn reload(&mut self, ty: &str, controller: &str) -> Result<u64, Error> {
        let (t, c) = self.controller(ty, controller)?;
        let program = match &self.model.types[t].controllers[c].model {
            ControllerKind::Program(program) => program,
            ControllerKind::Outside(_) => {
                let what = format!(
                    "controller `{controller}` of `{ty}` is a native program, which cannot change in a run"
                );
                let d = Diagnostic::error("native-code", what);
                return Err(Error::Wrong(d.help("start the run again, or use the class `program`")));
            }
            ControllerKind::Columns(_) => {
                let what = format!("controller `{controller}` of `{ty}` has no code that could change");
                return Err(Error::Wrong(Diagnostic::error("no-code", what)));
            }
        };
        let renewed = program.renewed().map_err(|d| Error::Scenario(Sources::default(), d))?;
        let code = renewed.code();
        self.code.insert(code, Arc::clone(&renewed));
        self.minds.shelve(renewed);
        self.journal.push(self.entrance(), InputKind::Code { ty: t as u32, controller: c as u32, code });
        Ok(code)
    }

    /// Puts code on the shelf that a journal switches to.
    ///
    /// # Errors
    /// When there is no such controller, or the code cannot run.
    pub fn shelve(&mut self, ty: usize, controller: usize, code: &[u8]) -> Result<(), Error> {
        self.shelve_in(self.model.world, ty, controller, code)
    }

    /// Code that came while running, by hash.
    pub fn code(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.code.iter().map(|(code, program)| (*code, program.bytes().1))
    }

    /// What the controllers of a robot printed last, oldest first.
    #[must_use]
    pub fn lines(&self, robot: &str) -> Vec<&str> {
        let Some(slot) = self.model.slot_of_path(robot) else { return Vec::new() };
        let t = self.model.type_of[slot] as usize;
        let row = slot - self.model.types[t].slots.start;
        let controllers = 0..self.model.types[t].controllers.len();
        controllers.flat_map(|c| self.minds.lines(t, c, row)).map(String::as_str).collect()
    }

    fn controller(&self, ty: &str, controller: &str) -> Result<(usize, usize), Error> {
        let types = &self.model.types;
        let t = types.iter().position(|t| t.name == ty).ok_or_else(|| {
            let d = Diagnostic::error("unknown-type", format!("no robot is of the type `{ty}`"));
            Error::Wrong(d.suggest(ty, types.iter().map(|t| t.name.as_str())))
        })?;
        let all = &types[t].controllers;
        let c = all.iter().position(|c| c.name == controller).ok_or_else(|| {
            let d = Diagnostic::error("unknown-part", format!("`{ty}` has no controller `{controller}`"));
            Error::Wrong(d.suggest(controller, all.iter().map(|c| c.name.as_str())))
        })?;
        Ok((t, c))
    }

    /// Halts a robot, or lets it go on.
    ///
    /// # Errors
    /// When there is no such robot.
    pub fn halt(&mut self, path: &str, halt: bool) -> Result<(), Error> {
        let slot = self.slot(path)?;
        self.journal.push(self.entrance(), InputKind::Halt(self.model.uids[slot], halt));
        Ok(())
    }

    /// Changes the length of the quantum from the next step on.
    pub fn set_quantum(&mut self, quantum: Ratio) {
        self.journal.push(self.entrance(), InputKind::Quantum(quantum));
    }

    /// Changes the level of detail from the next step on.
    pub fn set_detail(&mut self, detail: Detail) {
        self.journal.push(self.entrance(), InputKind::Detail(detail));
    }

    /// A robot's registers as they are now; what was written to them since the last step counts already.
    fn registers(&self, robot: &str, bytes: u32) -> Result<(usize, RegisterFile), Error> {
        if ![1, 2, 4].contains(&bytes) {
            let what = format!("registers are read and written in 1, 2 or 4 bytes, not `{bytes}`");
            return Err(Error::Wrong(Diagnostic::error("wrong-length", what).on(robot)));
        }
        let slot = self.slot(robot)?;
        let mut registers = swarmyard_engine::registers_now(&self.model, &self.state, slot);
        let own = self.journal.at(self.entrance()).iter().filter_map(|input| match &input.kind {
            InputKind::Poke(uid, poke) if *uid == self.model.uids[slot] => Some(poke),
            _ => None,
        });
        for poke in own {
            poke.play(&mut registers);
        }
        registers.refresh();
        Ok((slot, registers))
    }

    fn slot(&self, path: &str) -> Result<usize, Error> {
        self.model.slot_of_path(path).ok_or_else(|| {
            let near = self.model.paths.iter().take(10_000);
            let d = Diagnostic::error("unknown-path", format!("there is nothing that moves at `{path}`"));
            Error::Wrong(d.suggest(path, near))
        })
    }

    fn part(&self, path: &str) -> Result<(usize, usize, usize), Error> {
        let (robot, part) = path.rsplit_once('/').unwrap_or(("", path));
        let slot = self.slot(robot)?;
        let t = self.model.type_of[slot] as usize;
        let parts = &self.model.types[t].parts;
        let p = parts.iter().position(|p| p.name == part).ok_or_else(|| {
            let d = Diagnostic::error("unknown-part", format!("`{robot}` has no part `{part}`"));
            Error::Wrong(d.suggest(part, parts.iter().map(|p| p.name.as_str())))
        })?;
        Ok((slot, t, p))
    }
}
