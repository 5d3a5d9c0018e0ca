//! What displays of a relay ask for: answered here where it is about them alone, else by the server.

use super::control::Place;
use super::post::{Post, Then, To};
use super::upstream::exchange;
use crate::answer::{Answer, Refusal, Reply};
use crate::http::MOST_UPLOAD;
use crate::hub::Wishes;
use crate::message::Request;
use crate::runner::Recorded;
use axum::body::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Most bytes of a recording that is passed on.
const MOST_RECORDING: usize = 1 << 30;

impl Post<'_> {
    /// Has a request answered.
    pub(super) fn asked(&mut self, client: u64, request: Request, text: &str, to: To) -> Result<(), String> {
        if request.needs_control()
            && let Err(refusal) = self.control.check(&self.office.hub, client)
        {
            let _ = to.send(Err(refusal).into());
            return Ok(());
        }
        match request {
            Request::Watch { frames, rate, marks, inspect, probes, grid, comms, links, workers } => {
                let wishes = Wishes { frames, rate, marks, inspect, probes, grid, comms, links, workers };
                self.watch(client, wishes, to)
            }
            Request::Sheets {} => self.sheets(to),
            Request::ControlAsk {} if self.control.is_mine() => {
                let answer = self.office.hub.ask(client);
                self.answer_here(answer, to);
                Ok(())
            }
            Request::ControlAsk {} => self.ask_for_control(client, Then::Asked { client, to }),
            Request::ControlTake {} => self.take_control(client, to),
            Request::ControlGive { to: None } => self.let_go(Then::Pass(to)),
            Request::ControlGive { to: Some(id) } => self.control_about("control.give", id, to),
            Request::ControlDeny { to: id } => self.control_about("control.deny", id, to),
            _ => self.pass_on(text, to),
        }
    }

    fn answer_here(&mut self, answer: Answer, to: To) {
        self.is_stale = true;
        let _ = to.send(answer.into());
    }

    /// Asks the server for control, for one of the displays.
    pub(super) fn ask_for_control(&mut self, client: u64, then: Then) -> Result<(), String> {
        self.office.hub.want(client);
        self.control.ask();
        self.is_stale = true;
        self.ask(&json!({ "do": "control.ask" }), then)
    }

    /// The server has answered that.
    pub(super) fn control_asked(&mut self, ok: &Value) -> Result<(), String> {
        self.control.asked(ok["holds"] == true);
        let is_unwanted = self.control.settle(&mut self.office.hub);
        self.is_stale = true;
        if is_unwanted { self.let_go(Then::Nothing) } else { Ok(()) }
    }

    /// Takes control away: from a display here, or, if the server lets the relay, from one there.
    fn take_control(&mut self, client: u64, to: To) -> Result<(), String> {
        match self.office.hub.may_take(client) {
            Ok(()) if self.control.is_mine() => {
                let answer = self.office.hub.take(client);
                self.answer_here(answer, to);
                Ok(())
            }
            Ok(()) => {
                self.control.ask();
                self.ask(&json!({ "do": "control.take" }), Then::Took { client, to })
            }
            Err(refusal) => {
                let _ = to.send(Err(refusal).into());
                Ok(())
            }
        }
    }

    /// The server has answered that.
    pub(super) fn control_taken(&mut self, client: u64, reply: Reply, to: To) -> Result<(), String> {
        self.control.asked(reply.is_ok());
        if reply.is_ok() {
            // It may be gone: then nobody wants control.
            let _ = self.office.hub.take(client);
        }
        let is_unwanted = self.control.settle(&mut self.office.hub);
        self.is_stale = true;
        let _ = to.send(reply);
        if is_unwanted { self.let_go(Then::Nothing) } else { Ok(()) }
    }

    /// Lets control go.
    pub(super) fn let_go(&mut self, then: Then) -> Result<(), String> {
        self.control.given(&mut self.office.hub);
        self.is_stale = true;
        self.ask(&json!({ "do": "control.give", "to": null }), then)
    }

    /// Gives control to one display, or refuses it to one that asked: here, or at the server.
    fn control_about(&mut self, what: &str, id: u64, to: To) -> Result<(), String> {
        let hub = &mut self.office.hub;
        match Place::of(id) {
            Place::Here(id) => {
                let answer = if what == "control.give" { hub.give(Some(id)) } else { hub.deny(id) };
                self.answer_here(answer, to);
                Ok(())
            }
            Place::There(number) if number == self.control.you => {
                let _ = to
                    .send(Err(Refusal::new("unknown-client", format!("there is no display `{id}`"))).into());
                Ok(())
            }
            Place::There(number) => self.ask(&json!({ "do": what, "to": number }), Then::Pass(to)),
        }
    }

    /// Fetches the recording of the run for somebody.
    pub(super) fn fetch_recording(&self, reply: oneshot::Sender<Result<Recorded, String>>) {
        let (target, ledger) = (self.office.target.clone(), Arc::clone(&self.office.ledger));
        tokio::spawn(async move {
            let asked = ("GET", "/v1/recording.mcap");
            let answer = match exchange(&target, asked, &[], MOST_RECORDING, &ledger).await {
                Ok((200, bytes)) => Ok(Recorded::Bytes(bytes)),
                Ok((_, said)) => Err(words(&said)),
                Err(why) => Err(why),
            };
            let _ = reply.send(answer);
        });
    }

    /// Sends a recording to the server, for the console.
    pub(super) fn send_recording(&self, key: &str, bytes: Bytes, reply: oneshot::Sender<Answer>) {
        if !self.office.hub.is_console_key(key) {
            let _ = reply.send(Err(Refusal::new("not-console", "only the console sends recordings")));
            return;
        }
        let (target, ledger) = (self.office.target.clone(), Arc::clone(&self.office.ledger));
        // The server let the relay in under this key.
        let path = format!("/v1/recording?key={}", self.welcome["key"].as_str().unwrap_or_default());
        tokio::spawn(async move {
            let answer = match exchange(&target, ("POST", &path), &bytes, MOST_UPLOAD, &ledger).await {
                Ok((200, said)) => serde_json::from_slice(&said)
                    .map_err(|_| Refusal::new("gone", "the server answers what is no JSON")),
                Ok((403, said)) => Err(Refusal::new("not-console", words(&said))),
                Ok((_, said)) => Err(Refusal::new("refused", words(&said))),
                Err(why) => Err(Refusal::new("gone", why)),
            };
            let _ = reply.send(answer);
        });
    }
}

/// What a server says about a request that it refuses.
fn words(said: &[u8]) -> String {
    String::from_utf8_lossy(&said[..said.len().min(2000)]).trim().to_owned()
}
