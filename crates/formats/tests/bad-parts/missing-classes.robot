Robot = {
    Radius = 12
    Sensor     = { Name = eye }
    Actuator   = { Name = drive }
    Controller = { Drive = drive }
}
#! expect 3:5 missing-class
#! expect 4:5 missing-class
#! expect 5:5 missing-class
