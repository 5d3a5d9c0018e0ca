/* straight.c - drives straight on, whatever happens.
 *
 * The robot has two wheels; speeds are in mm/s. The worlds of the other controllers are only worth
 * something if this one fails in them.
 */
#include "rio.h"
#include "registers.h"

void robot_step(void)
{
    rio_pokes16(DRIVE_LEFT, 200);
    rio_pokes16(DRIVE_RIGHT, 200);
}
