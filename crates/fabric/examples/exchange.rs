//! How long two processes take to exchange 64 KiB both ways: over bare TCP, over Zenoh alone, over lanes, as workers do it,
//! and as they do it encrypted.
//!
//! Run with `cargo run -p swarmyard-fabric --features zenoh --example exchange [ROUNDS]`. It starts itself once more as the
//! other process. Each way is measured several times in turn, because other work on the machine comes and goes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use swarmyard_fabric::keys::{Keys, make_authority, make_member};
use swarmyard_fabric::mesh::{Mesh, Options};
use swarmyard_fabric::{Care, Fabric, Heard, Inbox, Outbox, Patience, RunKey};

const BYTES: usize = 64 << 10;
const WAYS: [&str; 5] = ["bare TCP", "Zenoh", "lanes", "lanes, outbox and inbox", "the same with mTLS"];
const TURNS: usize = 9;

type Whatever = Result<(), Box<dyn std::error::Error>>;
/// Sends 64 KiB for a round and returns when those of the other have come.
type Exchange = Box<dyn FnMut(u64)>;

fn main() -> Whatever {
    let args: Vec<String> = std::env::args().collect();
    if let [_, child, way, rounds, address, dir] = args.as_slice()
        && child == "child"
    {
        let mut exchange = connect(way, Some(address.clone()), Path::new(dir))?.1;
        rounds_of(&mut exchange, rounds.parse()?);
        return Ok(());
    }
    let rounds: u64 = args.get(1).map_or(Ok(1000), |a| a.parse())?;
    let dir = std::env::temp_dir().join(format!("swarmyard-exchange-{}", std::process::id()));
    make_authority(&dir)?;
    make_member(&dir, "one", &[])?;
    make_member(&dir, "two", &[])?;
    let mut turns = Vec::new();
    for turn in 0..TURNS {
        let mut times = [Duration::ZERO; WAYS.len()];
        for (way, time) in WAYS.iter().zip(&mut times) {
            *time = measure(way, rounds, &dir)?;
            println!("turn {turn}: {way}: {time:?}");
        }
        turns.push(times);
    }
    std::fs::remove_dir_all(&dir)?;
    println!(
        "medians of {rounds} rounds: best and middle of {TURNS} turns, and how many times bare TCP of the same turn (middle):"
    );
    for (k, way) in WAYS.iter().enumerate() {
        let [best, middle] = of_turns(turns.iter().map(|times| times[k].as_secs_f64() * 1e6));
        let [_, ratio] = of_turns(turns.iter().map(|times| times[k].div_duration_f64(times[0])));
        println!("{way:28} {best:7.1} µs {middle:7.1} µs {ratio:6.2}");
    }
    Ok(())
}

/// The least and the middle of some figures.
fn of_turns(figures: impl Iterator<Item = f64>) -> [f64; 2] {
    let mut sorted: Vec<f64> = figures.collect();
    sorted.sort_by(f64::total_cmp);
    [sorted[0], sorted[sorted.len() / 2]]
}

/// Median time of a round with another process.
fn measure(way: &str, rounds: u64, dir: &Path) -> Result<Duration, Box<dyn std::error::Error>> {
    let (address, mut exchange) = connect(way, None, dir)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["child", way, &rounds.to_string(), &address]).arg(dir);
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let median = rounds_of(&mut exchange, rounds);
    child.wait()?;
    Ok(median)
}

fn rounds_of(exchange: &mut Exchange, rounds: u64) -> Duration {
    println!("ready");
    let mut times = Vec::new();
    for round in 0..rounds {
        let start = Instant::now();
        exchange(round);
        times.push(start.elapsed());
    }
    times.sort();
    times[times.len() / 2]
}

/// Listens when no address is given, or connects to it.
fn connect(
    way: &str,
    to: Option<String>,
    dir: &Path,
) -> Result<(String, Exchange), Box<dyn std::error::Error>> {
    let me = u32::from(to.is_some());
    if way == WAYS[0] {
        return over_tcp(to);
    }
    let keys = (way == WAYS[4]).then(|| Keys::of(dir, ["one", "two"][me as usize])).transpose()?;
    let options = Options { keys, connect: to.into_iter().collect(), ..Options::default() };
    let mesh = Mesh::open(&options)?;
    let address = mesh.endpoints()[0].clone();
    let fabric: Arc<dyn Fabric> = Arc::new(mesh);
    let exchange = match WAYS.iter().position(|w| *w == way) {
        Some(1) => bare(fabric, me, "x")?,
        Some(2) => {
            fabric.trust(&RunKey::from(1));
            bare(fabric, me, "swarm/run/1/workers/q")?
        }
        _ => posted(fabric, me)?,
    };
    Ok((address, exchange))
}

fn over_tcp(to: Option<String>) -> Result<(String, Exchange), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let mut stream = to.map(TcpStream::connect).transpose()?;
    let (sent, mut came) = (vec![7; BYTES], vec![0; BYTES]);
    let exchange = move |_| {
        let stream = stream.get_or_insert_with(|| {
            let (stream, _) = listener.accept().expect("the other connects");
            stream.set_nodelay(true).expect("set");
            stream
        });
        stream.write_all(&sent).expect("sent");
        stream.read_exact(&mut came).expect("received");
    };
    Ok((address, Box::new(exchange)))
}

/// The fabric alone.
fn bare(fabric: Arc<dyn Fabric>, me: u32, under: &str) -> Result<Exchange, Box<dyn std::error::Error>> {
    let (tell, heard) = channel();
    let handle = fabric.listen(
        &format!("{under}/{}/{me}", 1 - me),
        Box::new(move |h: Heard<'_>| {
            // Its first byte says whether it is a greeting.
            let _ = tell.send(h.bytes.first() == Some(&0));
        }),
    )?;
    let (key, sent) = (format!("{under}/{me}/{}", 1 - me), vec![7; BYTES]);
    let mut is_met = false;
    Ok(Box::new(move |_| {
        let _listening = &handle;
        while !is_met {
            fabric.put(&key, &[0], Care::Block).expect("put");
            is_met = heard.recv_timeout(Duration::from_millis(10)).is_ok();
            if is_met {
                fabric.put(&key, &[0], Care::Block).expect("put");
            }
        }
        fabric.put(&key, &sent, Care::Block).expect("put");
        while heard.recv().expect("the other is there") {}
    }))
}

/// As workers do it.
fn posted(fabric: Arc<dyn Fabric>, me: u32) -> Result<Exchange, Box<dyn std::error::Error>> {
    let outbox = Outbox::open(fabric.clone(), 1_u64, 0, me, 8)?;
    let patience = Patience { give_up: Duration::from_secs(30), ..Patience::default() };
    let inbox = Inbox::open(fabric, 1_u64, 0, me, &[1 - me], patience)?;
    let sent = vec![7; BYTES];
    Ok(Box::new(move |round| {
        outbox.send(1 - me, round, &sent).expect("sent");
        let came = inbox.wait(round, &[1 - me]).expect("it comes");
        assert_eq!(came[0].1.len(), BYTES);
    }))
}
