//! A mutual exclusion that ignores clocks: for negative controls. Whoever is not inside lets everybody in.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use swarmyard_part_api::{
    Cx, Exclusion, Indication, Link, Microprotocol, PortSpec, ProtocolModel, ProtocolPort, Request,
    ServiceKind, User, from_bytes, memory_is_serde,
};

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// As Ricart and Agrawala, but who waits itself answers at once, whoever asked first.
pub(crate) struct PoliteMutex;

impl ProtocolModel for PoliteMutex {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Mutex)
    }
    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }
    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Polite::default())
    }
}

#[derive(Serialize, Deserialize)]
enum Message {
    May,
    Yes,
}

#[derive(Default, Serialize, Deserialize)]
struct Polite {
    /// Who wants in, and whose answer is missing.
    waits: Option<(User, BTreeSet<u32>)>,
    inside: bool,
    held_up: Vec<u32>,
}

impl Microprotocol for Polite {
    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        match request {
            Request::Mutex(Exclusion::Enter) => {
                self.waits = Some((user, cx.others().into_iter().collect()));
                cx.send(LINK, cx.others(), &Message::May);
            }
            Request::Mutex(Exclusion::Leave) => {
                self.inside = false;
                std::mem::take(&mut self.held_up)
                    .into_iter()
                    .for_each(|r| cx.send_to(LINK, r, &Message::Yes));
            }
            _ => {}
        }
    }

    fn indication(&mut self, _: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        match from_bytes(&bytes) {
            Ok(Message::May) if self.inside => self.held_up.push(from),
            Ok(Message::May) => cx.send_to(LINK, from, &Message::Yes),
            Ok(Message::Yes) => {
                let Some((user, missing)) = &mut self.waits else { return };
                missing.remove(&from);
                if missing.is_empty() {
                    let user = *user;
                    (self.waits, self.inside) = (None, true);
                    cx.indicate(user, Indication::Entered);
                }
            }
            Err(_) => {}
        }
    }

    memory_is_serde!();
}
