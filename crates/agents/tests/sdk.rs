//! `sdk/c` compiles without a warning wherever it says it does.
#![cfg(target_os = "linux")]

mod common;

use common::{programs, root, run, skipped};
use std::path::Path;
use std::process::Command;

const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];

fn compiler(name: &str, flags: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(WARNINGS).args(flags).arg("-I").arg(root().join("sdk/c")).arg("-I").arg(programs());
    command
}

fn is_installed(name: &str) -> bool {
    let found = Command::new(name).arg("--version").output().is_ok();
    if !found {
        skipped(&format!("`{name}` is not installed"));
    }
    found
}

#[test]
fn one_source_compiles_for_the_host_and_for_boards() {
    let board = "-DRIO_BOARD=\"board.h\"";
    for mode in [&[][..], &["-DRIO_MMIO"], &["-DRIO_MMIO", "-DRIO_BASE=0x40000000u"], &[board]] {
        for (name, language) in [("cc", &["-std=c99"][..]), ("c++", &["-x", "c++", "-std=c++11"])] {
            run(compiler(name, language)
                .args(mode)
                .args(["-O2", "-ffreestanding", "-c", "-o", "/dev/null"])
                .arg(programs().join("echo.c")));
        }
    }
    if is_installed("clang") {
        for target in ["--target=thumbv7m-none-eabi", "--target=riscv32"] {
            run(compiler("clang", &[target, "-std=c99", "-DRIO_MMIO", "-ffreestanding", "-fsyntax-only"])
                .arg(programs().join("echo.c")));
        }
    }
}

#[test]
fn the_helpers_count_right() {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("helpers-{}", std::process::id()));
    run(compiler("cc", &["-std=c99", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover"])
        .arg("-o")
        .arg(&program)
        .arg(programs().join("helpers.c"))
        .arg("-lm"));
    run(&mut Command::new(&program));
    std::fs::remove_file(program).expect("removed");
}

/// The line for WebAssembly in the README, without the files.
fn wasm_flags() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("sdk/c/README.md")).expect("a README");
    let line = text.split("clang --target=wasm32").nth(1).expect("it has the line");
    let line = line.split("-o ").next().expect("it has an output").replace("\\\n", " ");
    std::iter::once("--target=wasm32").chain(line.split_whitespace()).map(str::to_owned).collect()
}

#[test]
fn the_documented_line_makes_webassembly_that_imports_only_rio() {
    if !is_installed("clang") || !is_installed("wasm-ld") {
        return;
    }
    for (source, exports) in
        [("echo.c", &["robot_setup", "robot_step", "robot_stop"][..]), ("echo_loop.c", &["main"])]
    {
        let out =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{source}-{}.wasm", std::process::id()));
        run(compiler("clang", &[]).args(wasm_flags()).arg("-o").arg(&out).arg(programs().join(source)));
        let bytes = std::fs::read(&out).expect("it is there");
        std::fs::remove_file(out).expect("removed");
        let module = wasmi::Module::new(&wasmi::Engine::default(), &bytes[..]).expect("it is valid");
        for import in module.imports() {
            let known = [
                "peek8", "peek16", "peek32", "poke8", "poke16", "poke32", "ticks", "tick_us", "log", "init",
                "wait", "done",
            ];
            assert!(import.module() == "rio" && known.contains(&import.name()), "{source}: {import:?}");
        }
        let names: Vec<String> = module.exports().map(|e| e.name().to_owned()).collect();
        for export in exports.iter().chain(&["memory"]) {
            assert!(names.iter().any(|n| n == export), "{source} exports {names:?}");
        }
    }
}
