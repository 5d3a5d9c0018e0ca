/* angles.h - angles in milliradians, without floating point. */
#ifndef ANGLES_H
#define ANGLES_H

#include <stdint.h>

/* The same angle between -3142 and 3142. */
static int32_t wrapped(int32_t angle)
{
    while (angle > 3142) angle -= 6283;
    while (angle < -3142) angle += 6283;
    return angle;
}

/* A thousand times the sine, by the table of a quarter turn; between its entries in a straight line. */
static int32_t sine(int32_t angle)
{
    static const int16_t quarter[18] = {
        0, 100, 199, 296, 389, 479, 565, 644, 717, 783, 841, 891, 932, 964, 985, 997, 1000, 1000
    }; /* every 100 milliradians */
    int32_t a;
    angle = wrapped(angle);
    if (angle < 0) return -sine(-angle);
    a = angle > 1571 ? 3142 - angle : angle;
    return quarter[a / 100] + (quarter[a / 100 + 1] - quarter[a / 100]) * (a % 100) / 100;
}

#endif
