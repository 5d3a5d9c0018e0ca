# A small round robot for track networks: a row of seven track sensors that look straight down from
# 4 cm, so each sees a spot of 2 cm, and wheels that count their way in millimetres. Plain numbers
# are centimetres and degrees (docs/part-files.md).
#
# Registers: 0x00 seven bytes, 1 where a sensor detects the track; 0x08 seven bytes, how much each
# sees of it, 0 to 255 (both from left to right); 0x10 and 0x14 how far each wheel rolled, in mm;
# 0x20 and 0x22 wheel speeds in mm/s.
Robot = {
    Radius = 10
    Actuator = {
        Name         = drive
        Class        = diff-drive
        Base         = 16
        Acceleration = 200
        Slip         = 1
        Registers = {
            Left  = { Address = 0x20  Width = 16  Signed = yes  Scale = 0.001 }
            Right = { Address = 0x22  Width = 16  Signed = yes  Scale = 0.001 }
        }
    }
    Sensor = {
        Name        = eyes
        Class       = track-sensor
        File        = track.part
        Height      = 4
        Inclination = 0
        Count       = 7
        Spacing     = 2
        Mount       = [7, 0]
        Registers = {
            Detected = { Address = 0x00  Width = 8 }
            Value    = { Address = 0x08  Width = 8 }
        }
    }
    Sensor = {
        Name         = odometer
        Class        = odometer
        Wheel Radius = 3.1831   # a turn of the wheel is 20 cm, and so 200 counts: one per mm
        Counts       = 200
        Registers = {
            Left  = { Address = 0x10  Width = 32  Signed = yes }
            Right = { Address = 0x14  Width = 32  Signed = yes }
        }
    }
}
