//! `hosts`: what hosts lend, and what runs there.

use super::fabric::FabricArgs;
use super::names::addresses;
use crate::cli::fail::{Exit, Failure};
use crate::cli::out::{self, Out, bytes};
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use swarmyard::{LinkFigures, RobotFigures, WorkerFigures};
use swarmyard_cluster::host::{Info, Running};
use swarmyard_cluster::staff::{Figures, figures, visit};

/// Arguments of `hosts`.
#[derive(Args)]
#[command(
    before_help = "Examples:\n  swarmyard hosts alpha beta --keys keys --name desk\n  swarmyard hosts 10.0.0.5:7400 10.0.0.6:7400 --keys keys --name desk"
)]
pub(crate) struct HostsArgs {
    /// Where they are: NAME as `keys add` wrote it down, NAME=HOST:PORT, HOST:PORT, or @FILE with one per line
    #[arg(required = true, value_name = "HOST", value_delimiter = ',')]
    hosts: Vec<String>,
    #[command(flatten)]
    fabric: FabricArgs,
}

/// Asks every host. One that does not answer is in the list, with the reason; the exit code says that there is one.
pub(crate) fn hosts(args: &HostsArgs, out: &Out) -> Result<Exit, Failure> {
    let connect = args.fabric.connect("console")?;
    let (mut text, mut list, mut exit) = (String::new(), Vec::new(), Exit::Ok);
    let mut links = Links::default();
    for address in addresses(&args.hosts, args.fabric.keys.as_deref())? {
        match visit(&connect, &address) {
            Ok((_, info)) => {
                let mut did = Vec::new();
                for running in &info.running {
                    let figures = figures(&connect, running);
                    let sent = figures.as_ref().map_or_else(Vec::new, |figures| figures.links.clone());
                    links.add(running, &info.name, sent);
                    did.push(figures);
                }
                text.push_str(&words(&info, &address.endpoint, &did));
                list.push(value(&info, &address.endpoint, &did));
            }
            Err(why) => {
                let name = address.name.as_deref().unwrap_or("?");
                let _ = writeln!(text, "{name} at {}\n  NOT THERE   {why}", address.endpoint);
                list.push(json!({ "name": address.name, "endpoint": address.endpoint, "trouble": why }));
                exit = Exit::Failed;
            }
        }
    }
    text.push_str(&links.words());
    out.answer("hosts", json!({ "hosts": list, "links": links.value() }), &text)?;
    Ok(exit)
}

/// What workers of runs under way have sent to each other.
#[derive(Default)]
struct Links {
    /// The host of each worker, by run and number.
    hosts: BTreeMap<(u64, u32), String>,
    all: Vec<(u64, LinkFigures)>,
}

impl Links {
    fn add(&mut self, running: &Running, host: &str, sent: Vec<LinkFigures>) {
        self.hosts.insert((running.run, running.worker), host.to_owned());
        self.all.extend(sent.into_iter().map(|link| (running.run, link)));
    }

    fn host(&self, run: u64, worker: u32) -> Option<&str> {
        self.hosts.get(&(run, worker)).map(String::as_str)
    }

    /// A line for each run, then one for each two hosts: what crosses the network.
    fn words(&self) -> String {
        let at = |run, worker| self.host(run, worker).unwrap_or("elsewhere");
        let mut runs: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        let mut hosts: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
        for (run, link) in &self.all {
            let LinkFigures { from, to, messages, bytes: sent } = link;
            let (here, there) = (at(*run, *from), at(*run, *to));
            let line = format!("{from} on {here} → {to} on {there}: {} in {messages} messages", bytes(*sent));
            runs.entry(*run).or_default().push(line);
            if here != there {
                let sum = hosts.entry((here, there)).or_default();
                (sum.0, sum.1) = (sum.0 + sent, sum.1 + messages);
            }
        }
        let mut text = String::new();
        for (run, lines) in runs {
            let _ = writeln!(text, "links of run {run}");
            for line in lines {
                let _ = writeln!(text, "  {line}");
            }
        }
        for ((here, there), (sent, messages)) in hosts {
            let _ = writeln!(text, "from {here} to {there}: {} in {messages} messages", bytes(sent));
        }
        text
    }

    fn value(&self) -> Value {
        let one = |(run, link): &(u64, LinkFigures)| {
            let LinkFigures { from, to, messages, bytes } = link;
            json!({
                "run": run.to_string(), "from": from, "to": to, "messages": messages, "bytes": bytes,
                "from_host": self.host(*run, *from), "to_host": self.host(*run, *to),
            })
        };
        Value::Array(self.all.iter().map(one).collect())
    }
}

/// `did` is what each worker there has done, where it says so.
fn words(info: &Info, endpoint: &str, did: &[Option<Figures>]) -> String {
    let Info { name, slots, free, arch, .. } = info;
    let mut text = format!("{name} at {endpoint}\n");
    let withdrawn = if info.is_withdrawn { ", withdrawn: its owner needs it" } else { "" };
    let _ = writeln!(text, "  slots       {free} of {slots} free{withdrawn}");
    let (version, numerics) = (&info.identity.version, info.identity.numerics);
    let _ = writeln!(text, "  version     {version}, self-test {numerics:016x}, {arch}");
    if !info.can.is_empty() {
        let _ = writeln!(text, "  can         {}", info.can.join(", "));
    }
    if let Some(load) = info.load {
        let _ = writeln!(text, "  load        {load:.2}");
    }
    for (r, did) in info.running.iter().zip(did) {
        let _ = write!(text, "  runs        worker {} of run {}, process {}", r.worker, r.run, r.pid);
        if let Some(Figures { worker: WorkerFigures { bodies, work_s, wait_s, sent, .. }, .. }) = did {
            let (sent, has) = (bytes(*sent), out::count(*bodies as usize, "body").replace("bodys", "bodies"));
            let _ = write!(text, ": {has}, {work_s:.3} s at work, {wait_s:.3} s waiting, {sent} sent");
        }
        text.push('\n');
        for RobotFigures { path, cost_us, sense_us, think_us, act_us, contact_us, .. } in
            did.iter().flat_map(|did| &did.heaviest)
        {
            let _ = writeln!(
                text,
                "              {path}: {cost_us:.1} µs per tick, {sense_us:.1} sensing, {think_us:.1} thinking, {act_us:.1} acting, {contact_us:.1} contacts"
            );
        }
    }
    if !info.allows.is_empty() {
        let _ = writeln!(text, "  allows      {}", info.allows.join(", "));
    }
    for p in &info.programs {
        let _ = writeln!(text, "  runs        program {p}");
    }
    text
}

fn value(info: &Info, endpoint: &str, did: &[Option<Figures>]) -> Value {
    let running = info.running.iter().zip(did).map(|(r, did)| {
        let (figures, heaviest) = did.as_ref().map(|did| (&did.worker, &did.heaviest)).unzip();
        json!({
            "run": r.run.to_string(), "worker": r.worker, "pid": r.pid, "threads": r.threads,
            "figures": figures, "heaviest": heaviest,
        })
    });
    let programs = info.programs.iter().map(|p| {
        json!({
            "name": p.name, "pid": p.pid, "seconds": p.seconds, "bytes_in": p.bytes_in, "bytes_out": p.bytes_out,
            "turns": p.turns, "there_us": p.there_us, "whole_us": p.whole_us,
        })
    });
    json!({
        "name": info.name, "endpoint": endpoint, "slots": info.slots, "free": info.free,
        "withdrawn": info.is_withdrawn, "can": info.can, "load": info.load, "arch": info.arch,
        "version": info.identity.version, "self_test": format!("{:016x}", info.identity.numerics),
        "running": running.collect::<Vec<_>>(),
        "allows": info.allows, "programs": programs.collect::<Vec<_>>(),
    })
}
