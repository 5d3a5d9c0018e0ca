Robot = {
    Radius = 12
    Sensor = { Class = rays  Name = eye }
    Sensor = { Class = rays  Name = eye }
}
#! expect 4:37 duplicate-name
