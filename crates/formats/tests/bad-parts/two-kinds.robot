Robot = {
    Radius = 12
    Actuator = { Name = eye  Class = diff-drive  File = inc/eye.part }
}
#! expect inc/eye.part:2:1 wrong-block
