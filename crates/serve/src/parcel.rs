//! A file on its way to somebody, piece by piece: however long it is, and however slowly it is taken, one piece is in memory.

use axum::body::Bytes;
use futures_util::stream::{Stream, try_unfold};
use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;
use tokio::task::spawn_blocking;

/// Most bytes of a piece.
const PIECE: u64 = 64 << 10;

/// A file as it is now: what is added later is no part of it, and it stays although the file is removed.
pub(crate) struct Parcel {
    file: File,
    /// How many bytes are still to come.
    pub(crate) length: u64,
}

impl Parcel {
    pub(crate) fn open(path: &Path) -> Result<Parcel> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Parcel { file, length })
    }

    /// The pieces, in order. Each is read when it is asked for, where reading may take its time.
    pub(crate) fn pieces(self) -> impl Stream<Item = Result<Bytes>> + Send + 'static {
        try_unfold(self, |parcel| async move {
            if parcel.length == 0 {
                return Ok(None);
            }
            spawn_blocking(|| parcel.piece()).await.map_err(Error::other)?.map(Some)
        })
    }

    fn piece(mut self) -> Result<(Bytes, Parcel)> {
        let mut bytes = vec![0; self.length.min(PIECE) as usize];
        let count = self.file.read(&mut bytes)?;
        if count == 0 {
            return Err(Error::new(ErrorKind::UnexpectedEof, "the file has become shorter"));
        }
        bytes.truncate(count);
        self.length -= count as u64;
        Ok((Bytes::from(bytes), self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt as _;
    use std::io::Write as _;

    #[test]
    fn a_file_is_sent_in_small_pieces_and_is_as_long_as_was_said() {
        let path = std::env::temp_dir().join(format!("swarmyard-parcel-{}", std::process::id()));
        let text: Vec<u8> = (0..200_000_u32).map(|k| (k % 251) as u8).collect();
        std::fs::write(&path, &text).unwrap();
        let parcel = Parcel::open(&path).unwrap();
        assert_eq!(parcel.length, 200_000);
        // What happens to the file meanwhile is none of the receiver's business.
        let mut more = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        more.write_all(b"more").unwrap();
        std::fs::remove_file(&path).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let pieces: Vec<Bytes> = runtime.block_on(parcel.pieces().map(Result::unwrap).collect());
        assert!(pieces.len() >= 4 && pieces.iter().all(|p| p.len() as u64 <= PIECE));
        assert_eq!(pieces.concat(), text);
    }
}
