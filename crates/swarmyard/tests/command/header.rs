//! `gen header`.

use crate::yard::Yard;

const WORLD: &str = r#"format = 1
[type.t]
radius = 0.1
[[type.t.part]]
name = "drive"
class = "diff-drive"
[[type.t.part]]
name = "ring"
class = "range-rays"
rays = 8
range = 3
[[type.t.register]]
name = "MOTOR_L"
part = "drive"
channel = "left"
at = 0x20
width = 8
signed = true
scale = 0.01
[[type.t.register]]
part = "ring"
channel = "range"
at = 0x100
scale = 0.001
[[robot]]
type = "t"
"#;

/// The header goes through a real C compiler, which then says what it understood.
#[test]
fn the_header_names_the_addresses_and_compiles_as_c() {
    let yard = Yard::new("header");
    yard.write("world.toml", WORLD);
    let header = yard.run("gen header world.toml t").exits(0).out;
    assert!(header.contains("#define MOTOR_L 0x0020u"), "{header}");
    assert!(header.contains("write, 8 bits signed, -128 to 127, value = count * 0.01 m/s"), "{header}");
    assert_eq!(yard.run("gen header world.toml").exits(0).out, header, "the only type need not be named");
    assert!(yard.run("gen header world.toml scout").exits(2).err.contains("valid here: t"));
    yard.write("t.h", &header);
    yard.write("main.c", "#include \"t.h\"\n#include <stdio.h>\nint main(void) { printf(\"%u %u %u\", MOTOR_L, RING_RANGE_COUNT, RING_RANGE_AT(3)); return 0; }\n");
    let compiler = std::process::Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "main.c", "-o", "main"])
        .current_dir(yard.path("."))
        .status();
    let Ok(status) = compiler else {
        println!("no C compiler here: the header was not compiled");
        return;
    };
    assert!(status.success());
    let said = std::process::Command::new(yard.path("main")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout), "32 8 262");
}
