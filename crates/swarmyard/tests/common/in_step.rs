//! A world whose protocols talk: over real sockets, between processes or machines.

/// Three robots that make the same steps, by whatever broadcast.
pub(crate) fn in_step(protocol: &str) -> String {
    format!(
        r#"format = 1
[network]
class = "constant"
[type.robot]
radius = 0.1
[[type.robot.part]]
name = "wheels"
class = "wheels"
[[type.robot.part]]
name = "gps"
class = "gps"
{protocol}
[type.robot.algorithm]
class = "in-step"
broadcast = "order"
steps = 6
step = 0.1
speed = [5, 9]
turn_speed = [60, 90]
[[robot]]
name = "r"
type = "robot"
count = 3
layout = {{ class = "circle", radius = 5 }}
"#
    )
}

/// A total order.
pub(crate) const LAMPORT: &str = "[[type.robot.protocol]]\nname = \"order\"\nclass = \"lamport-order\"\n";
