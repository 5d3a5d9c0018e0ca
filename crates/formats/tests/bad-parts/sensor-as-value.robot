Robot = {
    Radius = 12
    Sensor = rays
}
#! expect 3:14 wrong-type
