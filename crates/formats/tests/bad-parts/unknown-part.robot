Robot = {
    Radius = 12
    Actuator   = { Class = diff-drive  Name = drive }
    Controller = { Class = follow  Drive = drvie }
}
#! expect 4:44 unknown-part
