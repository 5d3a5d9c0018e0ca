//! The line between who asks and who computes elsewhere: messages over two pipes.
//!
//! A message is its length, four bytes, little endian, and as many bytes of postcard. What is heard is bounded, and no
//! more is allocated than has come.

use super::SANDBOX;
use super::price::Meter;
use crate::workshop::Elsewhere;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Most bytes of a message.
const MOST_BYTES: usize = 256 << 20;

/// What a process over there is to compute: the first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Steps of part models.
    PartModels,
    /// Programs of robots.
    Programs,
}

/// One end of the line.
pub(crate) struct Pipes {
    to: BufWriter<Box<dyn Write + Send>>,
    from: BufReader<Box<dyn Read + Send>>,
    meter: Option<Meter>,
}

impl Pipes {
    pub(crate) fn new(from: Box<dyn Read + Send>, to: Box<dyn Write + Send>) -> Pipes {
        Pipes { to: BufWriter::new(to), from: BufReader::new(from), meter: None }
    }

    /// Says something; it is on its way when something is to be heard.
    pub(crate) fn say(&mut self, message: &impl Serialize) -> io::Result<()> {
        let bytes = postcard::to_allocvec(message).map_err(io::Error::other)?;
        let length = u32::try_from(bytes.len()).ok().filter(|n| *n as usize <= MOST_BYTES);
        let length = length.ok_or_else(|| io::Error::other("a message is too long"))?;
        self.to.write_all(&length.to_le_bytes())?;
        self.to.write_all(&bytes)?;
        self.count(|meter| meter.sent(bytes.len() + 4));
        Ok(())
    }

    /// The next message; nothing at the end.
    pub(crate) fn hear<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        self.to.flush()?;
        let mut length = [0; 4];
        match self.from.read_exact(&mut length) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            done => done?,
        }
        let length = u32::from_le_bytes(length) as usize;
        if length > MOST_BYTES {
            return Err(io::Error::other(format!("a message of {length} bytes is too long")));
        }
        let mut bytes = Vec::new();
        // As much as comes, not as much as is promised.
        self.from.by_ref().take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.count(|meter| meter.received(length + 4));
        postcard::from_bytes(&bytes).map(Some).map_err(io::Error::other)
    }

    fn count(&self, note: impl FnOnce(&Meter)) {
        if let Some(meter) = &self.meter {
            note(meter);
        }
    }
}

/// The end of who asks, and the process here that stands for the one over there. It ends with this.
pub(crate) struct Talk {
    pipes: Pipes,
    process: Option<Child>,
    asked: Option<Instant>,
    /// Whether it has answered before: the first answer takes as long as it takes to start, and is not counted.
    is_warm: bool,
}

impl Drop for Talk {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // It may have ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Talk {
    /// Starts a process that stands for one on the host `on`, and says what that is to compute.
    pub(crate) fn open(elsewhere: &Elsewhere, on: &str, task: Task) -> io::Result<Talk> {
        let mut command = Command::new(&elsewhere.program);
        command.args(&elsewhere.words).args(["--", on, SANDBOX]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (to, from) = pipes.ok_or_else(|| io::Error::other("it has no pipes"))?;
        let mut pipes = Pipes::new(Box::new(from), Box::new(to));
        pipes.meter = Some(elsewhere.prices.meter(on));
        pipes.say(&task)?;
        Ok(Talk { pipes, process: Some(process), asked: None, is_warm: false })
    }

    /// Over pipes that are there, to no process of its own.
    #[cfg(test)]
    pub(crate) fn over(mut pipes: Pipes, task: Task, meter: Meter) -> io::Result<Talk> {
        pipes.meter = Some(meter);
        pipes.say(&task)?;
        Ok(Talk { pipes, process: None, asked: None, is_warm: false })
    }

    /// Says something that is part of a question, or has no answer.
    pub(crate) fn say(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.asked.get_or_insert_with(Instant::now);
        self.pipes.say(message)
    }

    /// What comes back; the end of the line is an error.
    pub(crate) fn hear<T: DeserializeOwned>(&mut self) -> io::Result<T> {
        self.pipes.hear()?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// That was the answer.
    pub(crate) fn answered(&mut self) {
        if let Some(asked) = self.asked.take()
            && std::mem::replace(&mut self.is_warm, true)
        {
            self.pipes.count(|meter| meter.answered(asked.elapsed()));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::{Arc, Mutex, PoisonError};

    /// Bytes that somebody wrote.
    #[derive(Clone, Default)]
    pub(crate) struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Written {
        pub(crate) fn bytes(&self) -> Vec<u8> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
        }
    }

    /// What a process over there answers to these bytes.
    pub(crate) fn answers(bytes: Vec<u8>) -> (io::Result<()>, Vec<u8>) {
        let written = Written::default();
        let done = crate::far::compute(io::Cursor::new(bytes), written.clone());
        (done, written.bytes())
    }

    /// Some messages as bytes.
    pub(crate) fn bytes_of(messages: &[&dyn Fn(&mut Pipes)]) -> Vec<u8> {
        let written = Written::default();
        let mut pipes = Pipes::new(Box::new(io::empty()), Box::new(written.clone()));
        messages.iter().for_each(|say| say(&mut pipes));
        assert!(pipes.hear::<()>().expect("nothing").is_none());
        written.bytes()
    }

    #[test]
    fn bytes_that_are_no_message_are_an_error_and_an_end_is_an_end() {
        for wrong in [&[255_u8, 255, 255, 255][..], &[9, 0, 0, 0, 1], &[1, 0, 0, 0, 200]] {
            let (done, out) = answers(wrong.to_vec());
            assert!(done.is_err() && out.is_empty(), "{wrong:?}");
        }
        assert!(answers(Vec::new()).0.is_ok());
    }
}
