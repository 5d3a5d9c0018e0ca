//! What the server says in words: for all, for some, or for one of the relay's displays.

use super::post::{Post, Then};
use crate::inspect;
use crate::message::Probe;
use crate::runner::FIRST_LINES;
use crate::shot::Inspected;
use serde_json::{Value, json};
use std::sync::Arc;
use swarmyard_record::Bodies;

impl Post<'_> {
    /// Takes a message.
    ///
    /// # Errors
    /// When a server of ours would not say that: then nothing more of it is believed.
    pub(super) fn hear(&mut self, text: &str) -> Result<(), String> {
        let mut message: Value =
            serde_json::from_str(text).map_err(|e| format!("the server says what is no JSON: {e}"))?;
        let is = message["is"].as_str().unwrap_or_default().to_owned();
        match (is.as_str(), self.welcome.is_null()) {
            ("goodbye", _) => {
                let why = message["why"].as_str().unwrap_or("goodbye");
                return Err(format!("the server says: {}", why.chars().take(200).collect::<String>()));
            }
            ("welcome", true) => return self.be_welcomed(message),
            (_, true) => return Err("the server does not begin with `welcome`".into()),
            ("status", _) => self.status(text, &message)?,
            ("control", _) => {
                let is_unwanted = self.control.told(&message, &mut self.office.hub)?;
                if is_unwanted {
                    self.let_go(Then::Nothing)?;
                }
            }
            ("world", _) => self.world(text, &mut message)?,
            ("events", _) => self.events(text, &mut message)?,
            ("problems", _) => self.problems(text, &message),
            ("inspect", _) => self.inspected(&mut message)?,
            ("samples", _) => return self.samples(&message),
            ("comms", _) => return self.comms(text, &mut message),
            ("links", _) => {
                self.links = Some(Arc::from(text));
                self.tell_again();
            }
            ("workers", _) => {
                self.workers = Some(Arc::from(text));
                self.tell_again();
            }
            ("reply", _) => return self.replied(text, &message),
            (other, _) => {
                let other: String = other.chars().take(40).collect();
                return Err(format!("the server says something unknown: `{other}`"));
            }
        }
        self.is_stale = true;
        Ok(())
    }

    fn be_welcomed(&mut self, welcome: Value) -> Result<(), String> {
        if welcome["version"] != crate::PROTOCOL {
            let theirs = &welcome["version"];
            return Err(format!("the server speaks version {theirs}, not {}", crate::PROTOCOL));
        }
        self.control.you = welcome["you"].as_u64().ok_or("the server does not say who we are")?;
        self.welcome = welcome;
        self.wish_for_nothing()
    }

    fn status(&mut self, text: &str, status: &Value) -> Result<(), String> {
        self.shown.status = Arc::from(text);
        let run = status["run"].as_u64().ok_or("the server does not say which run it shows")?;
        // Lines of a run that is no more are forgotten there: which, only the server knows.
        if self.run.replace(run).is_some_and(|before| before != run) {
            self.ask(&json!({ "do": "history", "limit": FIRST_LINES }), Then::Lines)?;
        }
        Ok(())
    }

    fn world(&mut self, text: &str, world: &mut Value) -> Result<(), String> {
        let wrong = |e: &dyn std::fmt::Display| format!("the server tells a world that is none: {e}");
        let revision = world["revision"].as_u64().ok_or_else(|| wrong(&"it has no revision"))?;
        let drawing: Bodies = serde_json::from_value(world["drawing"].take()).map_err(|e| wrong(&e))?;
        self.picture.world(revision, drawing.types);
        self.shown.world = Arc::from(text);
        self.shown.text = Arc::from(world["text"].as_str().unwrap_or_default());
        self.shown.shot = Arc::default();
        Ok(())
    }

    fn events(&mut self, text: &str, message: &mut Value) -> Result<(), String> {
        let Value::Array(lines) = message["lines"].take() else {
            return Err("the server tells lines that are none".into());
        };
        // Lines that were asked for may be on their way a second time.
        let is_repeated = std::mem::take(&mut self.may_repeat)
            && self.lines.len() >= lines.len()
            && self.lines.range(self.lines.len() - lines.len()..).eq(&lines);
        if !is_repeated {
            self.lines.extend(lines);
            self.lines.drain(..self.lines.len().saturating_sub(FIRST_LINES));
        }
        // There may be nobody.
        let _ = self.news.send(Arc::from(text));
        Ok(())
    }

    fn problems(&mut self, text: &str, message: &Value) {
        // There are three places they come from, told in the same order every time.
        let mut all = self.shown.problems.to_vec();
        let is_same = |old: &Arc<str>| {
            let old: Value = serde_json::from_str(old).unwrap_or_default();
            old["from"] == message["from"]
        };
        match all.iter().position(is_same) {
            Some(k) => all[k] = Arc::from(text),
            None if all.len() < 16 => all.push(Arc::from(text)),
            None => {}
        }
        self.shown.problems = all.into();
    }

    fn inspected(&mut self, message: &mut Value) -> Result<(), String> {
        let stop = message["stop"].as_u64();
        let Value::Array(robots) = message["robots"].take() else {
            return Err("the server shows robots that are none".into());
        };
        let robots = robots.into_iter().filter_map(|r| Some((r["path"].as_str()?.to_owned(), r.to_string())));
        self.shown.inspected =
            Arc::new(Inspected { stop: stop.unwrap_or_default(), robots: robots.collect() });
        Ok(())
    }

    /// Hands each display its columns of the numbers that are followed.
    fn samples(&mut self, message: &Value) -> Result<(), String> {
        let wrong = || "the server tells numbers that are none".to_owned();
        let probes = message["probes"].as_array().ok_or_else(wrong)?;
        let probes: Vec<Probe> =
            probes.iter().filter_map(|p| serde_json::from_value(p.clone()).ok()).collect();
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for row in message["rows"].as_array().ok_or_else(wrong)? {
            let row = row.as_array().filter(|row| row.len() == probes.len() + 1).ok_or_else(wrong)?;
            rows.push(row.iter().map(|n| n.as_f64().unwrap_or(f64::NAN)).collect());
        }
        for client in self.office.hub.all_mut().filter(|c| !c.wishes.probes.is_empty()) {
            let place = |probe: &Probe| probes.iter().position(|p| p == probe);
            let columns: Option<Vec<usize>> = client.wishes.probes.iter().map(place).collect();
            // Rows from before it wanted these are not for it.
            let Some(columns) = columns else { continue };
            for row in &rows {
                let own = std::iter::once(row[0]).chain(columns.iter().map(|k| row[k + 1])).collect();
                inspect::keep_row(client, own);
            }
            inspect::send_samples(client);
        }
        Ok(())
    }

    /// Tells displays that follow what robots told each other; who had no room is told how much it missed.
    fn comms(&mut self, text: &str, message: &mut Value) -> Result<(), String> {
        let wrong = || "the server tells messages that are none".to_owned();
        let (next, left_out) = (message["next"].as_u64(), message["left_out"].as_u64());
        let (next, left_out) = next.zip(left_out).ok_or_else(wrong)?;
        let told = message["lines"].as_array().ok_or_else(wrong)?.len() as u64 + left_out;
        let first = next.saturating_sub(told);
        let text: Arc<str> = Arc::from(text);
        for client in self.office.hub.all_mut().filter(|c| c.wishes.comms) {
            let Ok(place) = client.personal.try_reserve() else {
                client.comms_seen = client.comms_seen.min(first);
                continue;
            };
            match first.saturating_sub(client.comms_seen) {
                0 => place.send(Arc::clone(&text)),
                missed => {
                    message["left_out"] = json!(left_out.saturating_add(missed));
                    place.send(Arc::from(message.to_string()));
                }
            }
            client.comms_seen = next;
        }
        Ok(())
    }

    /// Tells displays what they had no room for, or did not want before.
    pub(super) fn tell_again(&mut self) {
        for client in self.office.hub.all_mut() {
            inspect::send_samples(client);
            let links = self.links.as_ref().filter(|_| client.wishes.links);
            let workers = self.workers.as_ref().filter(|_| client.wishes.workers);
            for (told, seen) in [(links, &mut client.links_seen), (workers, &mut client.workers_seen)] {
                let is_new = |told: &&Arc<str>| !seen.as_ref().is_some_and(|seen| Arc::ptr_eq(seen, told));
                if let (Some(told), Ok(place)) = (told.filter(is_new), client.personal.try_reserve()) {
                    place.send(Arc::clone(told));
                    *seen = Some(Arc::clone(told));
                }
            }
        }
    }
}
