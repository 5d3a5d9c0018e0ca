//! Names of files and folders for a while that nothing had before.
//!
//! The folder for temporary files is everybody's, and a project may be: what stands there under a name that could be guessed may be somebody's trap. So a name that
//! is taken is left alone, whatever it is, and the next one is tried.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Most names that are tried.
const TRIES: u32 = 1000;

/// Makes something under a new name below `folder`. `make` must refuse what is there already, as `create_new` and
/// `create_dir` do.
///
/// # Errors
/// What `make` says, and that all names were taken.
pub fn make<T>(folder: &Path, stem: &str, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut taken = None;
    for _ in 0..TRIES {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{stem}-{}-{number}", std::process::id()));
        match make(&path) {
            Ok(made) => return Ok((path, made)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => taken = Some(e),
            Err(e) => return Err(e),
        }
    }
    Err(taken.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
}
