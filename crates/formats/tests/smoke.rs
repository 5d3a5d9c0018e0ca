use swarmyard_formats::*;
use swarmyard_part_api::Registry;
#[test]
fn simple() {
    let t = std::fs::read_to_string("/tmp/t.toml").unwrap_or_else(|_| "format = 1\n[type.a]\nradius=0.1\n[[robot]]\ntype=\"a\"\ncount=3\n".into());
    match read("t.toml", &t, &[("run.seed".into(), "3".into())], &NoFiles, &Registry::new()) { Ok(l) => println!("{:#?}", l.scene.root), Err(e) => println!("{e}") }
    for e in check_examples(&Registry::new()) { println!("{e}\n-----"); }
}
