use swarmyard_part_api::Registry;
fn main() { let k = std::env::args().nth(1).unwrap_or_default(); let r = Registry::new(); print!("{}", match k.as_str() { "manual" => swarmyard_formats::manual(&r), "list" => swarmyard_formats::describe_list(&r), "run" => swarmyard_formats::describe(r.sheet("run").unwrap()), _ => swarmyard_formats::schema(&r) }); }
