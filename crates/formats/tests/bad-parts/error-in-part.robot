Robot = {
    Radius = 12
    Sensor = { Name = eye  File = inc/broken.part }
    Sensor = { Name = ear  File = inc/broken.part }
}
#! expect inc/broken.part:3:5 unknown-key
