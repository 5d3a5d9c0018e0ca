//! The world of robots with a C program, for tests of every kind of controller.

/// A world with robots `r1` … of one type, on which `code` runs; `class` is the class of its
/// controller and more TOML for it.
pub(crate) fn world(code: &str, class: &str, count: usize) -> String {
    format!(
        r#"
format = 1
[run]
quantum = "100ms"
duration = "10s"
[world]
min = [-5, -5]
max = [5, 5]
[type.bot]
radius = "10cm"
[[type.bot.part]]
name = "drive"
class = "diff-drive"
[[type.bot.part]]
name = "sonar"
class = "sonar"
count = 4
range = "3m"
[[type.bot.register]]
part = "sonar"
channel = "range"
at = 0x10
scale = 0.001
[[type.bot.register]]
part = "drive"
channel = "left"
at = 0x20
signed = true
scale = 0.001
[[type.bot.register]]
part = "drive"
channel = "right"
at = 0x22
signed = true
scale = 0.001
[type.bot.controller]
{class}
code = '''
#include "rio.h"
#include "registers.h"
static void drive(int left, int right) {{ rio_pokes16(DRIVE_LEFT, (int16_t)left); rio_pokes16(DRIVE_RIGHT, (int16_t)right); }}
{code}
'''
[[robot]]
name = "r"
type = "bot"
count = {count}
layout = {{ class = "row", step = [0, 1] }}
"#
    )
}
