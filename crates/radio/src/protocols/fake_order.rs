//! No total order at all: what others must be compared with.
//!
//! Sends to all and delivers what comes, when it comes. It looks like a total order as long as nothing
//! overtakes anything, which is why it is here: whoever relies on the order must be seen to fail with this.
//!
//! - **Guarantees**: nothing but what the link guarantees.
//! - **Messages**: n−1 for one broadcast. One step.

use super::ordering::{Letter, asked};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec, ProtocolModel,
    ProtocolPort, Request, ServiceKind, Sheet, TypeLayout, User, from_bytes, memory_is_serde,
};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("fake-order", Kind::Protocol, "Pretends to be a total order broadcast: sends to all and delivers what comes, as it comes. For negative controls, and to see what an order costs.")
        .param(Param::new("link", ParamType::Name("protocol"), "Provider of the link; the network when left out."))
        .example("[[type.demo.protocol]]\nname = \"order\"\nclass = \"fake-order\"")
}

fn build(_: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Protocol(Arc::new(FakeOrder)))
}

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// The class with its parameters: it has none.
#[derive(Clone, Copy, Debug)]
struct FakeOrder;

impl ProtocolModel for FakeOrder {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Broadcast)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Memory {})
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes::<(User, Vec<u8>)>(bytes) {
            Ok((_, bytes)) => ("DATA".into(), format!("{} bytes", bytes.len())),
            Err(why) => ("BAD".into(), why),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Memory {}

impl Microprotocol for Memory {
    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Some(bytes) = asked(request) else { return };
        if cx.robots() > 1 {
            cx.send(LINK, cx.others(), &(user, &bytes));
        }
        Letter { origin: cx.me(), number: 0, user, bytes }.deliver(cx);
    }

    fn indication(&mut self, _: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        if let Ok((user, bytes)) = from_bytes(&bytes) {
            Letter { origin: from, number: 0, user, bytes }.deliver(cx);
        }
    }

    memory_is_serde!();
}
