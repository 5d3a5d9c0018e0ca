//! A server and its displays, as they are used: processes and sockets, nothing made up.

mod commands;
mod console;
mod many;
mod relay;
mod served;
#[cfg(feature = "cluster")]
mod spread;

/// Two robots that drive in circles, in quanta of 20 ms, for a simulated minute.
pub(crate) const CIRCLES: &str = r#"format = 1
title = "Circles"

[run]
quantum = "20ms"
duration = "60s"

[world]
min = [-3, -3]
max = [3, 3]

[type.cart]
radius = 0.1

[[type.cart.part]]
name = "drive"
class = "diff-drive"

[[type.cart.part]]
name = "rays"
class = "range-rays"
rays = 3
range = "4m"

[type.cart.controller]
class = "cruise"
left = 0.2
right = 0.3

# The one in the west.
[[robot]]
name = "a"
type = "cart"
at = [-1, 0]

[[robot]]
name = "b"
type = "cart"
at = [1, 0]
"#;
