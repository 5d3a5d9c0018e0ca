//! The simplest consensus, for tests of what is built on one.

use serde::{Deserialize, Serialize};
use swarmyard_part_api::{
    Cx, Indication, Link, Microprotocol, PortSpec, Propose, ProtocolModel, ProtocolPort, Request,
    ServiceKind, User, from_bytes, memory_is_serde,
};

/// Consensus by the word of robot 0: the first proposal it hears of an instance is the decision. It stands for
/// any consensus; the class under test knows only the service.
pub(crate) struct OneWord;

#[derive(Default, Serialize, Deserialize)]
struct OneWordMemory {
    decided: Vec<u64>,
}

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

impl ProtocolModel for OneWord {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Consensus)
    }
    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }
    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(OneWordMemory::default())
    }
}

impl Microprotocol for OneWordMemory {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.decided = cx.persisted().unwrap_or_default();
    }
    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        if let Request::Consensus(Propose { instance, value }) = request {
            cx.send_to(LINK, 0, &(user, instance, value.to_vec()));
        }
    }
    fn indication(&mut self, _: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        let (user, instance, value): (User, u64, Vec<u8>) = from_bytes(&bytes).unwrap();
        if self.decided.contains(&instance) {
            return;
        }
        if cx.me() == 0 {
            cx.send(LINK, cx.others(), &(user, instance, &value));
        }
        if cx.me() == 0 || from == 0 {
            self.decided.push(instance);
            cx.persist(&self.decided);
            cx.indicate(user, Indication::Decided { instance, value: value.into() });
        }
    }
    memory_is_serde!();
}
