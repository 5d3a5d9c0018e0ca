//! The world of robots with a C program, and two such programs, for tests of every kind of controller.
#![allow(dead_code, reason = "every test file uses some of it")]

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

/// Wanders, with a memory that grows and that it steers by: any slip in restoring it or in running it again shows.
pub(crate) const WANDER: &str = r"
static unsigned noise = 1; static int turn; static short seen[64]; static int at;
void robot_setup(void) { noise = 7; }
void robot_step(void) {
    noise = noise * 1103515245u + 12345u;
    seen[at++ & 63] = (short)rio_peek16(SONAR_RANGE_AT(0));
    if (rio_peek16(SONAR_RANGE_AT(0)) < 500) turn = 5 + (int)(noise >> 28);
    if (turn > 0) { turn--; drive(150, -150); } else drive(400 + (int)(noise >> 25), 400 + (seen[noise >> 26] & 31));
}";

/// The same idea as a program with its own loop.
pub(crate) const LOOP: &str = r"
int main(void) {
    int turn = 0; unsigned noise = 1;
    rio_init();
    while (rio_wait()) {
        noise = noise * 1103515245u + 12345u;
        if (rio_peek16(SONAR_RANGE_AT(0)) < 500) turn = 5 + (int)(noise >> 28);
        if (turn > 0) { turn--; drive(150, -150); } else drive(400 + (int)(noise >> 25), 420);
    }
    rio_done();
    return 0;
}";
