Robot = {
    Mass = 2
}
#! expect scenario.toml:2:1 missing-key
