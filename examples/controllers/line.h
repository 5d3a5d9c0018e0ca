/* line.h - follow a track with a row of track sensors. Shared by the controllers of this folder.
 *
 * The robot needs: a row of track sensors called "eyes", with registers for how much of the track
 * each sees (EYES_VALUE, 0 to 255) and for whether that is enough (EYES_DETECTED, 0 or 1), numbered
 * from left to right; and two wheels (DRIVE_LEFT, DRIVE_RIGHT, mm/s).
 *
 * Everything is static: a controller is one source file, and this is a piece of it.
 */
#ifndef LINE_H
#define LINE_H

#include "rio.h"
#include "registers.h"

#define EYES ((int32_t)EYES_VALUE_COUNT)
#define DARK 30 /* readings below this are noise */

enum { RIGHT = -1, LEFT = 1 };

/* Where the track went when it was last seen: LEFT or RIGHT. */
static int32_t line_side = RIGHT;

/* Drives with the left wheel slower and the right wheel faster by `turn`: positive turns left. */
static inline void drive(int32_t speed, int32_t turn)
{
    rio_pokes16(DRIVE_LEFT, (int16_t)(speed - turn));
    rio_pokes16(DRIVE_RIGHT, (int16_t)(speed + turn));
}

/* Whether sensor k sees the track; sensor 0 is the leftmost. */
static inline int32_t eye(int32_t k)
{
    return rio_peek8(EYES_DETECTED_AT((uint32_t)k)) != 0;
}

/* How many sensors see the track. */
static inline int32_t eyes_on_line(void)
{
    int32_t k, count = 0;
    for (k = 0; k < EYES; k++) count += eye(k);
    return count;
}

/* Where in the row the track is, in hundredths of a sensor from the middle, positive to the left:
 * the mean of the sensors' places, weighted by how much of the track each of them sees. */
static inline int32_t line_offset(void)
{
    int32_t k, sum = 0, weight = 0;
    for (k = 0; k < EYES; k++) {
        int32_t bright = rio_peek8(EYES_VALUE_AT((uint32_t)k)) - DARK;
        if (bright > 0) {
            sum += bright * (50 * (EYES - 1) - 100 * k);
            weight += bright;
        }
    }
    return weight > 0 ? sum / weight : 0;
}

/* One tick of track following: steers to where the track is, slower the more it is off the middle,
 * and turns on the spot to the side where it went when no sensor sees it any more. */
static inline void follow_line(int32_t speed)
{
    int32_t offset = line_offset();
    if (eyes_on_line() == 0) {
        drive(0, line_side * speed / 2);
        return;
    }
    if (rio_abs(offset) > 30) line_side = offset > 0 ? LEFT : RIGHT;
    drive(speed - speed * rio_abs(offset) / 300, speed * offset / 200);
}

#endif
