# A laboratory vehicle after Figure 7-2 of the SPREAD paper: a polygon as body, eight ultrasonic range
# finders around it, and a row of five infrared track sensors under its nose. Plain numbers are
# centimetres and degrees (docs/part-files.md).
#
# Registers: 0x00 five bytes, 1 where a sensor detects the track; 0x08 five bytes, how much each sees
# of it, 0 to 255 (both from left to right); 0x10 eight distances in mm, ahead first, then
# counter-clockwise; 0x20 and 0x22 wheel speeds in mm/s.
Robot = {
    Polygon = [[13, -5], [13, 5], [7, 11], [-8, 11], [-12, 6], [-12, -6], [-8, -11], [7, -11]]
    Sensor = {
        Name    = eyes
        Class   = track-sensor
        File    = track.part
        Count   = 5
        Spacing = 3
        Mount   = [2, 0]
        Registers = {
            Detected = { Address = 0x00  Width = 8 }
            Value    = { Address = 0x08  Width = 8 }
        }
    }
    Sensor = {
        Name        = sonar
        Class       = sonar
        Count       = 8
        Ring        = 10
        Cone Angle  = 30
        Range       = 150
        Noise Share = 1
        Registers = {
            Range = { Address = 0x10  Width = 16  Scale = 0.001 }
        }
    }
    Actuator = {
        Name         = drive
        Class        = diff-drive
        Base         = 16
        Acceleration = 100
        Slip         = 2
        Registers = {
            Left  = { Address = 0x20  Width = 16  Signed = yes  Scale = 0.001 }
            Right = { Address = 0x22  Width = 16  Signed = yes  Scale = 0.001 }
        }
    }
}
