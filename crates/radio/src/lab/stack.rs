//! Graphs of protocols by the names of their classes, as a scenario would make them; and the probe on top.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::{Diagnostic, Diagnostics};
use swarmyard_part_api::{
    Built, Cx, Exclusion, GraphModel, Indication, Kind, Microprotocol, Mutex, NodeSpec, Outline, PortSpec,
    ProtocolModel, ProtocolPort, RegisterMap, Registry, ServiceKind, TypeLayout, memory_is_serde,
};
use swarmyard_scene::{Params, Value};

/// Name of the probe in every graph that has one.
pub const PROBE: &str = "probe";

/// A graph of protocols in the making.
pub struct Stack<'a> {
    registry: &'a Registry,
    specs: Vec<NodeSpec>,
    problems: Diagnostics,
}

impl<'a> Stack<'a> {
    /// Without protocols yet; classes come from the registry.
    #[must_use]
    pub fn new(registry: &'a Registry) -> Stack<'a> {
        Stack { registry, specs: Vec::new(), problems: Diagnostics::default() }
    }

    /// Adds a protocol of a registered class, with parameters as in a scenario.
    #[must_use]
    pub fn class(mut self, name: &str, class: &str, params: &[(&str, Value)]) -> Stack<'a> {
        match self.build_class(name, class, params) {
            Ok(spec) => self.specs.push(spec),
            Err(problem) => self.problems.push(problem.on(name)),
        }
        self
    }

    fn build_class(
        &mut self,
        name: &str,
        class: &str,
        given: &[(&str, Value)],
    ) -> Result<NodeSpec, Diagnostic> {
        let class = self.registry.of_kind(class, &[Kind::Protocol, Kind::Algorithm])?;
        let mut params = Params::default();
        for (key, value) in given {
            params.set(key, value.clone(), None);
        }
        class.sheet.complete(&mut params, name, None, &mut self.problems);
        let (outline, registers) = (Outline::disc(0.1), RegisterMap::default());
        let layout = TypeLayout { outline: &outline, parts: &[], registers: &registers, name };
        let built = class.build.as_ref().map(|build| build(&params, &layout)).transpose()?;
        let Some(Built::Protocol(model)) = built else {
            return Err(Diagnostic::error("wrong-class", "this class builds no protocol"));
        };
        let provider = |port: &PortSpec| params.text_or_none(port.name).map(str::to_owned);
        let ports = model.ports().iter().map(provider).collect();
        Ok(NodeSpec { name: name.to_owned(), model, ports })
    }

    /// Adds a protocol that is not registered. `ports` says by whom they are provided: (port, name).
    #[must_use]
    pub fn model(mut self, name: &str, model: Arc<dyn ProtocolModel>, ports: &[(&str, &str)]) -> Stack<'a> {
        let provider = |port: &PortSpec| ports.iter().find(|p| p.0 == port.name).map(|p| p.1.to_owned());
        let ports = model.ports().iter().map(provider).collect();
        self.specs.push(NodeSpec { name: name.to_owned(), model, ports });
        self
    }

    /// Adds the probe on top, which uses these protocols; its ports have the numbers of this list.
    #[must_use]
    pub fn probe(self, uses: &[&str]) -> Stack<'a> {
        self.probe_that_holds(uses, None)
    }

    /// The same with a probe that leaves mutual exclusion by itself, so many seconds after it entered.
    #[must_use]
    pub fn probe_that_holds(mut self, uses: &[&str], hold_s: Option<f64>) -> Stack<'a> {
        let mut ports = Vec::new();
        for name in uses {
            let found = self.specs.iter().find(|s| s.name == *name);
            match found.and_then(|s| s.model.provides()) {
                Some(service) => ports.push(service),
                None if *name == "network" => ports.push(ServiceKind::Link),
                None => {
                    let what =
                        format!("the probe cannot use `{name}`: there is none, or it provides nothing");
                    self.problems.push(Diagnostic::error("unknown-protocol", what).on(PROBE));
                    return self;
                }
            }
        }
        let named = uses.iter().map(|u| Some((*u).to_owned())).collect();
        let model = Arc::new(ProbeModel { ports, hold_s });
        self.specs.push(NodeSpec { name: PROBE.to_owned(), model, ports: named });
        self
    }

    /// The graph.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn build(mut self) -> Result<Arc<GraphModel>, Diagnostics> {
        if self.problems.has_errors() {
            return Err(self.problems);
        }
        match GraphModel::new(std::mem::take(&mut self.specs)) {
            Ok(model) => Ok(Arc::new(model)),
            Err(problems) => Err(problems),
        }
    }
}

/// An algorithm that does nothing of its own: a script asks through it, and the trace says what it was told.
struct ProbeModel {
    ports: Vec<ServiceKind>,
    hold_s: Option<f64>,
}

impl ProtocolModel for ProbeModel {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        self.ports.iter().map(|&service| PortSpec::new(service.word(), service)).collect()
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Probe { hold_s: self.hold_s, holds: Vec::new() })
    }
}

#[derive(Serialize, Deserialize)]
struct Probe {
    hold_s: Option<f64>,
    /// (timer, port) of exclusions that are going to be left.
    holds: Vec<(u64, usize)>,
}

impl Microprotocol for Probe {
    fn indication(&mut self, port: usize, what: Indication, cx: &mut Cx<'_>) {
        if let (Indication::Entered, Some(hold_s)) = (what, self.hold_s) {
            self.holds.push((cx.set_timer(hold_s), port));
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if let Some(k) = self.holds.iter().position(|h| h.0 == timer) {
            let (_, port) = self.holds.remove(k);
            cx.request(ProtocolPort::<Mutex>::new(port), Exclusion::Leave);
        }
    }

    memory_is_serde!();
}
