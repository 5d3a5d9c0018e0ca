//! Files in the folder for temporary files that are gone with whoever made them.
//!
//! The folder is everybody's: a file or a link that stands there under a name that could be guessed is never opened, and the file
//! can be read by its owner only.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Most names that are tried.
const TRIES: u32 = 1000;

/// A file that is removed when this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Makes a file below `folder` that was not there before; its name ends in `.end`.
    ///
    /// # Errors
    /// When the folder takes no files.
    pub fn new(folder: &Path, end: &str) -> io::Result<(Temporary, File)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut taken = None;
        for _ in 0..TRIES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("swarmyard-{}-{number}.{end}", std::process::id()));
            match options.open(&path) {
                Ok(file) => return Ok((Temporary(path), file)),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => taken = Some(e),
                Err(e) => return Err(e),
            }
        }
        Err(taken.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // One that stays does no harm.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "files are what this is about")]
    fn what_a_link_leads_to_is_not_overwritten_nor_what_was_there_taken_away() {
        let folder = std::env::temp_dir().join(format!("swarmyard-temporary-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a folder");
        let (first, file) = Temporary::new(&folder, "mcap").expect("a file");
        assert_eq!(file.metadata().expect("it is there").permissions().mode() & 0o777, 0o600);
        let name = first.path().file_stem().and_then(|n| n.to_str()).expect("a name");
        let number: u64 = name.rsplit('-').next().and_then(|n| n.parse().ok()).expect("a number");
        let precious = folder.join("precious");
        std::fs::write(&precious, "mine").expect("a file");
        let links: Vec<PathBuf> = (number + 1..number + 100)
            .map(|n| folder.join(format!("swarmyard-{}-{n}.mcap", std::process::id())))
            .collect();
        links.iter().for_each(|link| std::os::unix::fs::symlink(&precious, link).expect("a link"));
        let (second, mut file) = Temporary::new(&folder, "mcap").expect("a file");
        io::Write::write_all(&mut file, b"a recording").expect("room for it");
        let made = [first.path().to_owned(), second.path().to_owned()];
        drop((first, second));
        assert_eq!(std::fs::read(&precious).expect("it is there"), b"mine");
        assert!(links.iter().all(|link| link.is_symlink()));
        assert!(made.iter().all(|path| !path.exists()));
        std::fs::remove_dir_all(&folder).expect("all of it is ours");
    }
}
