/* A small controller, as the measurements use it. */
#include "rio.h"

void robot_step(void)
{
    int32_t left = rio_peek16(0x10), right = rio_peek16(0x12);
    rio_pokes8(0x20, (int8_t)rio_clamp((left - right) / 16, -100, 100));
    rio_pokes8(0x21, (int8_t)rio_clamp((right - left) / 16, -100, 100));
    rio_poke32(0x24, rio_ticks());
}
