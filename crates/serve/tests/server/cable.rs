//! A piece of cable to a server, which looks at what comes through it.

use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use swarmyard_serve::frame::{Kept, Sort};

/// A piece of cable: counts what comes from the server, and can be plugged into another.
pub(crate) struct Cable {
    pub(crate) address: SocketAddr,
    server: Arc<Mutex<SocketAddr>>,
    meter: Arc<Meter>,
}

/// What came from the server.
#[derive(Default)]
struct Meter {
    bytes: AtomicU64,
    messages: Mutex<Vec<Message>>,
}

/// One message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) sort: &'static str,
    /// The stop that it is about; 0 where it is about none.
    pub(crate) stop: u64,
    /// Number of its picture, if it is of one.
    pub(crate) serial: u64,
    /// On the wire.
    pub(crate) bytes: u64,
}

impl Cable {
    pub(crate) fn to(server: SocketAddr) -> Cable {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (server, meter) = (Arc::new(Mutex::new(server)), Arc::<Meter>::default());
        let (to, counter) = (Arc::clone(&server), Arc::clone(&meter));
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let server = *to.lock().unwrap();
                // Without a server the connection is refused a little later than it would be.
                let Ok(far) = TcpStream::connect(server) else { continue };
                let (near_2, far_2) = (near.try_clone().unwrap(), far.try_clone().unwrap());
                let counter = Arc::clone(&counter);
                std::thread::spawn(move || carry(near, far, Some((address, server)), None));
                std::thread::spawn(move || carry(far_2, near_2, None, Some(Reader::new(counter))));
            }
        });
        Cable { address, server, meter }
    }

    pub(crate) fn plug_into(&self, server: SocketAddr) {
        *self.server.lock().unwrap() = server;
    }

    /// Bytes that came from the server.
    pub(crate) fn bytes(&self) -> u64 {
        self.meter.bytes.load(Ordering::SeqCst)
    }

    /// The messages that they were.
    pub(crate) fn messages(&self) -> Vec<Message> {
        self.meter.messages.lock().unwrap().clone()
    }

    /// All bytes, once nothing is on its way any more.
    pub(crate) fn settled(&self) -> u64 {
        let start = Instant::now();
        loop {
            let before = self.bytes();
            std::thread::sleep(Duration::from_millis(500));
            if self.bytes() == before {
                return before;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "the server goes on and on");
        }
    }
}

/// Carries bytes one way. The head of the first request names the server, not the cable.
fn carry(
    mut from: TcpStream,
    mut to: TcpStream,
    mut renamed: Option<(SocketAddr, SocketAddr)>,
    mut reader: Option<Reader>,
) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        let mut bytes = buffer[..n].to_vec();
        if let Some((cable, server)) = renamed.take() {
            bytes = String::from_utf8(bytes).unwrap().replace(&cable.to_string(), &server.to_string()).into();
        }
        if let Some(reader) = &mut reader {
            reader.read(&bytes);
        }
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(std::net::Shutdown::Both), to.shutdown(std::net::Shutdown::Both));
}

/// Reads along one connection: the head of the answer, and then messages if it is a WebSocket.
struct Reader {
    meter: Arc<Meter>,
    /// Not yet a whole message.
    rest: Vec<u8>,
    is_greeted: bool,
    /// What a display would know by now, which frames build on.
    kept: Kept,
}

impl Reader {
    fn new(meter: Arc<Meter>) -> Reader {
        Reader { meter, rest: Vec::new(), is_greeted: false, kept: Kept::default() }
    }

    fn read(&mut self, bytes: &[u8]) {
        self.meter.bytes.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        self.rest.extend_from_slice(bytes);
        if !self.is_greeted {
            let Some(end) = self.rest.windows(4).position(|w| w == b"\r\n\r\n") else { return };
            if !self.rest.starts_with(b"HTTP/1.1 101 ") {
                return;
            }
            self.rest.drain(..end + 4);
            self.is_greeted = true;
        }
        while let Some((opcode, body, bytes)) = self.whole() {
            let message = Message { bytes, ..self.understood(opcode, &body) };
            self.meter.messages.lock().unwrap().push(message);
        }
    }

    /// The next whole message: its opcode, what it says, and how long it was.
    fn whole(&mut self) -> Option<(u8, Vec<u8>, u64)> {
        let (head, len) = match (*self.rest.get(1)?, self.rest.get(2..10)) {
            (126, Some(long)) => (4, usize::from(u16::from_be_bytes([long[0], long[1]]))),
            (127, Some(long)) => (10, usize::try_from(u64::from_be_bytes(long.try_into().unwrap())).unwrap()),
            (126.., _) => return None,
            (short, _) => (2, usize::from(short)),
        };
        let end = head + len;
        let body = self.rest.get(head..end)?.to_vec();
        let opcode = self.rest[0] & 0xf;
        self.rest.drain(..end);
        Some((opcode, body, end as u64))
    }

    fn understood(&mut self, opcode: u8, body: &[u8]) -> Message {
        let of = |sort, stop, serial| Message { sort, stop, serial, bytes: 0 };
        match opcode {
            1 => {
                let message: Value = serde_json::from_slice(body).unwrap();
                let number = |value: &Value| value.as_u64().unwrap_or_default();
                let stop = |value: &Value| number(&value["stop"]);
                let ok = &message["ok"];
                match message["is"].as_str().unwrap() {
                    "status" => of("status", stop(&message), 0),
                    // A step that takes long is answered before it is done.
                    "reply" => of("reply", stop(ok) + number(&ok["left"]), 0),
                    "events" => of("events", stop(&message["lines"][0]), 0),
                    _ => of("other", 0, 0),
                }
            }
            2 => match self.kept.take(body).unwrap() {
                Sort::Bodies => {
                    let head = self.kept.bodies.as_ref().unwrap().head;
                    of("bodies", head.stop, head.serial)
                }
                Sort::Marks => {
                    let head = self.kept.marks.as_ref().unwrap().head;
                    of("marks", head.stop, head.serial)
                }
                Sort::Grid => of("grid", 0, 0),
            },
            _ => of("ping", 0, 0),
        }
    }
}
