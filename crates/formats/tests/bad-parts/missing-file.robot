Robot = {
    Radius = 12
    Sensor = { Name = eye  File = nowhere.part }
}
#! expect 3:35 bad-file
