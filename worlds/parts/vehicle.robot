# The vehicle of the worlds whose controllers are written in C: a round body on two wheels with eight
# sonars, a bumper, wheel counters, a compass and a beacon finder. Lengths in cm, angles in degrees,
# shares in percent (docs/part-files.md). Registers count millimetres, mm/s and milliradians.
Robot = {
    Radius = 12
    Colour = "#1f77b4"

    Actuator = {
        Name         = drive
        Class        = diff-drive
        Base         = 20
        Max Speed    = 60
        Acceleration = 100
        Slip         = 2
        Registers    = {
            Left  = { Address = 0x60  Width = 16  Signed = yes  Scale = 0.001 }
            Right = { Address = 0x62  Width = 16  Signed = yes  Scale = 0.001 }
        }
    }
    # Sonar 0 looks ahead, the others follow counter-clockwise every 45 degrees: 2 left, 4 back, 6 right.
    Sensor = {
        Name        = sonar
        Class       = sonar
        Count       = 8
        Ring        = 12
        Cone Angle  = 20
        Range       = 300
        Noise       = 0.3
        Noise Share = 1
        Registers   = { Range = { Address = 0x10  Width = 16  Scale = 0.001 } }
    }
    # Eight sectors in the same order as the sonars.
    Sensor = {
        Name      = bumper
        Class     = bumper
        Sectors   = 8
        Registers = { Pressed = { Address = 0x30  Width = 8 } }
    }
    # 200 counts per turn of a wheel 20 cm around: one count is one millimetre.
    Sensor = {
        Name         = odometer
        Class        = odometer
        Wheel Radius = 3.183098862
        Counts       = 200
        Registers    = {
            Left  = { Address = 0x38  Width = 32  Signed = yes }
            Right = { Address = 0x3C  Width = 32  Signed = yes }
        }
    }
    Sensor = {
        Name      = compass
        Class     = compass
        Noise     = 1
        Registers = { Heading = { Address = 0x40  Width = 16  Signed = yes  Scale = 0.001 } }
    }
    Sensor = {
        Name      = finder
        Class     = beacon-finder
        Aperture  = 180
        Range     = 800
        Noise     = 1
        Registers = {
            Count   = { Address = 0x42  Width = 16 }
            Id      = { Address = 0x44  Width = 16  Signed = yes }
            Bearing = { Address = 0x4C  Width = 16  Signed = yes  Scale = 0.001 }
        }
    }
}
