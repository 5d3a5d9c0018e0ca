Robot = {
    Radius = 12
    Actuator = { Class = diff-drive }
}
#! expect 3:5 missing-key
