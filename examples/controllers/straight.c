/* straight.c - drives straight on, whatever happens.
 *
 * The robot needs: two wheels (DRIVE_LEFT, DRIVE_RIGHT, in mm/s). Nothing else is used.
 *
 * Good for two things: to see that a robot moves at all, and to see that a world's assertions really
 * ask for something. Every world of this folder must fail with it:
 *
 *   swarmyard run worlds/fig-7-2.toml --set type.essex.controller.source=../examples/controllers/straight.c
 */
#include "rio.h"
#include "registers.h"

#define SPEED 200 /* mm/s */

void robot_step(void)
{
    rio_pokes16(DRIVE_LEFT, SPEED);
    rio_pokes16(DRIVE_RIGHT, SPEED);
}
