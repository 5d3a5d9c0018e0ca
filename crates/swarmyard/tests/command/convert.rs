//! `convert`, and configurations where scenarios are expected.

use crate::yard::Yard;

const CONFIG: &str = "# Ten robots.\nprocess.num = 10\nrobot.size = 10\nbornpoint.random = true\n\
                      process.initializer = lse.neko.robotsim.algorithm.RandomMovement\nmessages.level = FINE\n";

#[test]
fn a_configuration_becomes_a_scenario_in_a_file_or_on_standard_output() {
    let yard = Yard::new("convert");
    yard.write("robotsim.config", CONFIG);
    let done = yard.run("convert robotsim.config").exits(0);
    assert!(done.out.starts_with("format = 1\ntitle = \"Random movement of 10 robots\"\n"), "{}", done.out);
    assert!(done.err.contains("robotsim.config:6:1: warning[no-effect]"), "{}", done.err);
    yard.run("convert robotsim.config -o robots.toml").exits(0);
    assert_eq!(yard.read("robots.toml"), done.out);
    yard.run("fmt --check robots.toml").exits(0);
    let value = yard.run("convert robotsim.config --json").exits(0).json("swarmyard-convert/1");
    assert_eq!(value["content"].as_str(), Some(&*done.out));
    assert_eq!(value["problems"][0]["line"].as_u64(), Some(6));
}

#[test]
fn problems_of_a_configuration_have_their_place_in_every_command() {
    let yard = Yard::new("convert-bad");
    yard.write("bad.config", &CONFIG.replace("process.num", "process.nun").replace("= true", "= maybe"));
    for words in ["convert bad.config", "check bad.config", "run bad.config"] {
        let done = yard.run(words).exits(3);
        for piece in [
            "bad.config:2:1: error[unknown-key]",
            "did you mean `process.num`?",
            "error[missing-key]: a configuration needs the key `process.num`",
        ] {
            assert!(done.err.contains(piece), "{words}: no `{piece}` in {}", done.err);
        }
    }
    yard.run("convert missing.config").exits(3);
}
