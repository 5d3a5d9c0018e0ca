//! Reads a million robots; run it under `time` to see what that costs.

use swarmyard_formats::{NoFiles, read};
use swarmyard_part_api::Registry;

fn main() {
    let text = "format = 1\n[type.dot]\nradius = 0.1\n[[robot]]\ntype = \"dot\"\ncount = 1_000_000\nlayout = { class = \"LAYOUT\" }\n";
    let layout = std::env::args().nth(1).unwrap_or_else(|| "grid".into());
    let text = match layout.as_str() {
        "random" => {
            text.replace("\"LAYOUT\"", "\"random\", size = [100, 100]").replace("1_000_000", "100_000")
        }
        _ => text.replace("\"LAYOUT\"", "\"grid\", spacing = 0.5"),
    };
    match read("million.toml", &text, &[], &NoFiles, &Registry::new()) {
        Ok(loaded) => println!("{} robots", loaded.scene.group("/robots").len()),
        Err(failed) => println!("{failed}"),
    }
}
