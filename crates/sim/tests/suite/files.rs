//! Where the texts of a scenario may come from: regular files of bounded length, in its project.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use swarmyard_sim::{MOST_TEXT, Options, Sim};

const WALL: &str = "[[wall]]\nname = \"w\"\npoints = [[0, 0], [1, 0]]\n";

/// A folder `inside` with a scenario that includes `part.toml`, in a folder that is gone afterwards.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("swarmyard-texts-{}-{name}", std::process::id()));
        std::fs::create_dir_all(path.join("inside/deep")).expect("a folder");
        let scenario = "format = 1\ninclude = [\"part.toml\"]\n";
        std::fs::write(path.join("inside/world.toml"), scenario).expect("a file");
        Place(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn load(&self, name: &str) -> Result<(), String> {
        Sim::load(self.file(name), &Options::default()).map(|_| ()).map_err(|e| e.to_string())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn pipe(at: &Path) {
    assert!(Command::new("mkfifo").arg(at).status().expect("mkfifo runs").success());
}

/// A file that takes no room, and has more bytes than any text may have.
fn huge(at: &Path) {
    let file = std::fs::File::create(at).expect("a file");
    file.set_len(MOST_TEXT + (1 << 20)).expect("no room is needed");
}

#[test]
fn a_pipe_is_no_scenario_and_nobody_waits_for_it() {
    let place = Place::new("pipe");
    pipe(&place.file("pipe.toml"));
    let said = place.load("pipe.toml").expect_err("nobody writes into it");
    assert!(said.contains("no regular file") && said.contains("pipe.toml"), "{said}");
    pipe(&place.file("inside/part.toml"));
    let said = place.load("inside/world.toml").expect_err("nobody writes into it");
    assert!(said.contains("cannot include `part.toml`: it is no regular file"), "{said}");
}

#[test]
fn a_text_without_end_is_refused_before_it_is_read() {
    let place = Place::new("huge");
    huge(&place.file("huge.toml"));
    huge(&place.file("inside/part.toml"));
    for name in ["huge.toml", "inside/world.toml"] {
        let said = place.load(name).expect_err("it is too long");
        assert!(said.contains("it has more than 67108864 bytes"), "{said}");
    }
}

#[test]
fn a_link_may_lead_anywhere_in_the_project_and_nowhere_else() {
    let place = Place::new("link");
    std::fs::write(place.file("inside/deep/wall.toml"), WALL).expect("a file");
    std::fs::write(place.file("outside.toml"), WALL).expect("a file");
    let link = place.file("inside/part.toml");
    symlink("deep/wall.toml", &link).expect("a link");
    place.load("inside/world.toml").expect("it stays in the scenario's folder");
    std::fs::remove_file(&link).expect("it is there");
    symlink(place.file("outside.toml"), &link).expect("a link");
    let said = place.load("inside/world.toml").expect_err("it leads out");
    assert!(said.contains("cannot include `part.toml`: it leads out of the scenario's folder"), "{said}");
    std::fs::write(place.file("swarmyard.project"), "").expect("a mark");
    place.load("inside/world.toml").expect("now the folder above is the project");
}
