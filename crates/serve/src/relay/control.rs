//! Who holds control, where some displays are here and some at the server.
//!
//! To the server a relay is one display. When that one holds control, one of the relay's displays does: which,
//! is decided here, by the same [`Hub`] the server has. So at any time at most one display holds control.
//!
//! The displays of a relay have odd numbers, those of the server twice the number they have there: nobody
//! is taken for somebody else, also where a relay is connected to a relay.

use crate::answer::Refusal;
use crate::hub::Hub;
use serde_json::{Value, json};

/// Greatest number of a display at the server.
const MOST_ID: u64 = 1 << 51;

/// Who holds control at the server, and who asks for it there.
#[derive(Default)]
pub(super) struct Control {
    /// The relay's own number at the server.
    pub(super) you: u64,
    /// The relay holds control.
    is_mine: bool,
    /// The relay asks for it.
    is_asking: bool,
    /// Requests for control that the server has not answered.
    open: usize,
    /// Another display that holds control, those that ask for it, and all: without the relay.
    holder: Option<Value>,
    asking: Vec<Value>,
    clients: Vec<Value>,
}

/// Where a display is.
pub(super) enum Place {
    /// At this relay.
    Here(u64),
    /// At the server, with its number there.
    There(u64),
}

impl Place {
    pub(super) fn of(id: u64) -> Place {
        if id % 2 == 1 { Place::Here(id) } else { Place::There(id / 2) }
    }
}

impl Control {
    pub(super) fn is_mine(&self) -> bool {
        self.is_mine
    }

    /// Whether nobody holds control, and nobody here is about to.
    pub(super) fn is_free(&self) -> bool {
        !self.is_mine && self.holder.is_none() && self.open == 0
    }

    /// Takes the server's `control` message. Answers whether control came that nobody here wants.
    pub(super) fn told(&mut self, message: &Value, hub: &mut Hub) -> Result<bool, String> {
        let wrong = || "the server says wrongly who is there".to_owned();
        let id = |value: &Value| value["id"].as_u64().filter(|id| *id <= MOST_ID).ok_or_else(wrong);
        let others = |list: &Value| {
            let mut all = Vec::new();
            for value in list.as_array().ok_or_else(wrong)? {
                if id(value)? != self.you {
                    all.push(json!({ "id": 2 * id(value)?, "name": value["name"] }));
                }
            }
            Ok::<_, String>(all)
        };
        let holder = &message["holder"];
        let (asking, clients) = (others(&message["asking"])?, others(&message["clients"])?);
        let is_mine = !holder.is_null() && id(holder)? == self.you;
        let holder = match holder {
            Value::Null => None,
            _ if is_mine => None,
            other => Some(json!({ "id": 2 * id(other)?, "name": other["name"] })),
        };
        self.is_asking = message["asking"].as_array().is_some_and(|all| all.len() > asking.len());
        (self.is_mine, self.holder, self.asking, self.clients) = (is_mine, holder, asking, clients);
        if is_mine {
            return Ok(self.settle(hub));
        }
        hub.let_go();
        if !self.is_asking && self.open == 0 {
            hub.refuse_all();
        }
        Ok(false)
    }

    /// Gives control that the relay has to whoever asked first. Answers whether nobody wants it.
    pub(super) fn settle(&self, hub: &mut Hub) -> bool {
        match hub.first_asking() {
            _ if hub.is_held() || !self.is_mine => false,
            Some(first) => {
                // It is here: it asked.
                let _ = hub.give(Some(first));
                false
            }
            None => self.open == 0,
        }
    }

    /// The relay asks the server for control.
    pub(super) fn ask(&mut self) {
        self.open += 1;
    }

    /// The server has answered that.
    pub(super) fn asked(&mut self, holds: bool) {
        self.open = self.open.saturating_sub(1);
        self.is_mine |= holds;
    }

    /// The relay lets control go.
    pub(super) fn given(&mut self, hub: &mut Hub) {
        self.is_mine = false;
        hub.let_go();
    }

    /// Why a display may not do what only the console may.
    pub(super) fn check(&self, hub: &Hub, id: u64) -> Result<(), Refusal> {
        let here = hub.check(id);
        match &self.holder {
            Some(holder) if here.is_err() => {
                let name = holder["name"].as_str().unwrap_or("somebody");
                Err(Refusal::new("not-console", format!("`{name}` holds control"))
                    .help("ask for it with `control.ask`"))
            }
            _ => here,
        }
    }

    /// The `control` message for the relay's displays.
    pub(super) fn json(&self, hub: &Hub) -> Value {
        hub.json_with(self.holder.as_ref(), &self.asking, &self.clients)
    }
}
