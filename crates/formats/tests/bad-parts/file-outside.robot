Robot = {
    Radius = 12
    Sensor = { Name = eye  File = ../bad/eye.part }
}
#! expect 3:35 bad-file
