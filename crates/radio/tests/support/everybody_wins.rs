//! An election on a ring in which nobody gives way: for negative controls. Every number comes home.

use serde::{Deserialize, Serialize};
use swarmyard_part_api::{
    Cx, Indication, Link, Microprotocol, PortSpec, ProtocolModel, ProtocolPort, ServiceKind, from_bytes,
    memory_is_serde,
};

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// As Chang and Roberts, but lower numbers are passed on like higher ones.
pub(crate) struct EverybodyWins;

impl ProtocolModel for EverybodyWins {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Leader)
    }
    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }
    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Place)
    }
}

#[derive(Serialize, Deserialize)]
struct Place;

impl Place {
    fn pass_on(number: u32, cx: &mut Cx<'_>) {
        let next = (cx.me() + 1) % cx.robots();
        cx.send_to(LINK, next, &number);
    }
}

impl Microprotocol for Place {
    fn start(&mut self, cx: &mut Cx<'_>) {
        Place::pass_on(cx.me(), cx);
    }

    fn indication(&mut self, _: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { bytes, .. } = what else { return };
        match from_bytes::<u32>(&bytes) {
            Ok(number) if number == cx.me() => cx.tell_all(Indication::Leads(number)),
            Ok(number) => Place::pass_on(number, cx),
            Err(_) => {}
        }
    }

    memory_is_serde!();
}
