// A robot's own file: its outline and its parts.
Robot = {
    Radius = 12
    Mass   = 2

    Sensor = {
        Name = eye
        File = parts/eye.part
        Start = 12
    }
    Sensor = { Class = bumper  Name = bumper  Sectors = 8 }

    Actuator = {
        Class     = diff-drive
        Name      = drive
        Base      = 20
        Max Speed = 80
        Slip      = 2       # percent
        Registers = {
            Left  = { Address = 0x20  Width = 8  Signed = yes  Scale = 0.01 }
            Right = { Address = 0x21  Width = 8  Signed = yes  Scale = 0.01 }
        }
    }

    Controller = { Class = wander  Turn = 90 }
}
