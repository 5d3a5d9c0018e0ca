Robot = {
    Radius = 12
    Wheels = 2
    File = other.robot
    Sensor = { Class = rays  Name = eye  Colour = red }
}
#! expect 3:5 unknown-key
#! expect 4:5 unknown-key
#! expect 5:42 unknown-key
