/* What every echo controller does in a tick, whatever its style: the tests' Python and Prolog
 * programs do the same, so all must give the same pokes. */
#include "rio.h"

static void echo(void)
{
    uint32_t sum = 0, k;
    for (k = 0; k < 4; k++) sum += rio_peek16(0x10u + 2u * k);
    rio_pokes8(0x20, (int8_t)rio_clamp((int32_t)rio_peek16(0x10) - 500, -100, 100));
    rio_poke8(0x21, rio_peek8(0x11));
    rio_poke32(0x24, sum);
    rio_poke16(0x10, 1); /* a reading: refused */
    (void)rio_peek8(0x99); /* nothing there */
    if (rio_ticks() % 3u == 2u) {
        rio_poke8(0x40, 7);
        rio_poke16(0x24, (uint16_t)rio_peek32(0x40));
    }
    rio_log_int("sum", (int32_t)sum);
}
