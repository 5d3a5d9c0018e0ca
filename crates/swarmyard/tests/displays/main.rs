//! A server and its displays, as they are used: processes and sockets, nothing made up.

#[path = "../common/carts.rs"]
mod carts;
mod commands;
mod console;
mod many;
mod relay;
mod served;
#[cfg(feature = "cluster")]
mod spread;

use carts::Carts;

/// Two robots that drive in circles, in quanta of 20 ms, for a simulated minute.
pub(crate) fn circles() -> String {
    let robots = r#"# The one in the west.
[[robot]]
name = "a"
type = "cart"
at = [-1, 0]

[[robot]]
name = "b"
type = "cart"
at = [1, 0]
"#;
    let run = "quantum = \"20ms\"\nduration = \"60s\"";
    let controller = "class = \"cruise\"\nleft = 0.2\nright = 0.3";
    Carts { run, half_m: [3, 3], rays: 3, range: "4m", controller, robots }.text()
}
