//! Algorithms for tests: what a test does at the start, at timers and when it is told something, as a class of robots'
//! algorithms; and a log of what they wrote down. Nothing of them is saved: these runs are never restored.

use std::sync::{Arc, Mutex};
use swarmyard_base::Moment;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Link, Microprotocol, Moving, Param, ParamType, PortSpec,
    ProtocolModel, ProtocolPort, Registry, ServiceKind, Sheet, Watching,
};

pub(crate) const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);
pub(crate) const WATCH: ProtocolPort<Watching> = ProtocolPort::new(1);
/// Leads nowhere in a world without a network.
pub(crate) const LINK: ProtocolPort<Link> = ProtocolPort::new(2);

/// What an algorithm does. Every robot has a copy of its own.
pub(crate) trait Act: Clone + Send + Sync + 'static {
    fn start(&mut self, cx: &mut Cx<'_>);

    fn told(&mut self, _what: Indication, _cx: &mut Cx<'_>) {}

    fn timer(&mut self, _cx: &mut Cx<'_>) {}
}

/// Adds the class of the algorithms that do so.
pub(crate) fn add(registry: &mut Registry, class: &'static str, act: impl Act) {
    let acting = Acting(act);
    let motion = Param::new("motion", ParamType::Name("protocol"), "Who moves the robot.");
    let sheet = Sheet::new(class, Kind::Algorithm, "For tests.").param(motion);
    registry.add(Class::new(sheet, move |_, _| Ok(Built::Protocol(Arc::new(acting.clone())))));
}

#[derive(Clone)]
struct Acting<A>(A);

impl<A: Act> Microprotocol for Acting<A> {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.0.start(cx);
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        self.0.told(what, cx);
    }

    fn timer(&mut self, _timer: u64, cx: &mut Cx<'_>) {
        self.0.timer(cx);
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn load(&mut self, _image: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

impl<A: Act> ProtocolModel for Acting<A> {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![
            PortSpec::new("motion", ServiceKind::Motion),
            PortSpec::new("watching", ServiceKind::Watching),
            PortSpec::optional("link", ServiceKind::Link),
        ]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(self.clone())
    }
}

/// A type of robots with the algorithm of its own name, and with parts: their names and classes.
pub(crate) fn type_text(name: &str, outline: &str, parts: &[(&str, &str)]) -> String {
    let head = format!("[type.{name}]\n{outline}\n[type.{name}.algorithm]\nclass = \"{name}\"\n");
    let part = |(part, class): &(&str, &str)| {
        format!("[[type.{name}.part]]\nname = \"{part}\"\nclass = \"{class}\"\n")
    };
    head + &parts.iter().map(part).collect::<String>()
}

/// Robots `r0`, `r1`, … of these types at these places.
pub(crate) fn robots_text(robots: &[(&str, [f64; 3])]) -> String {
    let robot = |(k, (ty, [x, y, heading])): (usize, &(&str, [f64; 3]))| {
        format!("[[robot]]\nname = \"r{k}\"\ntype = \"{ty}\"\nat = [{x}, {y}, {heading}]\n")
    };
    robots.iter().enumerate().map(robot).collect()
}

/// What the robots of a run wrote down, one after another.
#[derive(Debug)]
pub(crate) struct Log<T>(Arc<Mutex<Vec<Line<T>>>>);

/// When it was written, s; by which robot; and what.
pub(crate) type Line<T> = (f64, u32, T);

impl<T> Log<T> {
    pub(crate) fn write(&self, cx: &Cx<'_>, what: T) {
        let line = (cx.now().since(Moment::ZERO), cx.me(), what);
        self.0.lock().expect("one thread").push(line);
    }

    /// Everything so far, which is forgotten.
    pub(crate) fn take(&self) -> Vec<Line<T>> {
        std::mem::take(&mut *self.0.lock().expect("one thread"))
    }
}

impl<T: Clone> Log<T> {
    pub(crate) fn last(&self) -> Option<Line<T>> {
        self.0.lock().expect("one thread").last().cloned()
    }

    /// What one robot wrote: when, s, and what.
    pub(crate) fn of(&self, robot: u32) -> Vec<(f64, T)> {
        let all = self.0.lock().expect("one thread");
        all.iter().filter(|line| line.1 == robot).map(|line| (line.0, line.2.clone())).collect()
    }
}

impl<T> Clone for Log<T> {
    fn clone(&self) -> Log<T> {
        Log(Arc::clone(&self.0))
    }
}

impl<T> Default for Log<T> {
    fn default() -> Log<T> {
        Log(Arc::default())
    }
}
