/* board.c - runs a controller natively on this computer, against recorded registers.
 *
 * It does the same as ../cortex-m3/board.c with another compiler for another processor, and is
 * there to compare with. In: images.h, made by run.sh. Out: per tick its number and the command registers.
 */
#include "rio.h"
#include "images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEAK __attribute__((weak))

static uint8_t registers[IMAGE_BYTES];
static uint32_t tick; /* ticks begun */
static int in_a_tick;

static uint32_t peek(rio_addr a, uint32_t bytes)
{
    uint32_t value = 0, k;
    if (a % bytes != 0u || a + bytes > IMAGE_BYTES) return 0;
    for (k = 0; k < bytes; k++) value |= (uint32_t)registers[a + k] << (8u * k);
    return value;
}

static void poke(rio_addr a, uint32_t value, uint32_t bytes)
{
    uint32_t k;
    if (a % bytes != 0u || a + bytes > IMAGE_BYTES) return;
    for (k = 0; k < bytes; k++) registers[a + k] = (uint8_t)(value >> (8u * k));
}

uint8_t  rio_peek8 (rio_addr a) { return (uint8_t)peek(a, 1); }
uint16_t rio_peek16(rio_addr a) { return (uint16_t)peek(a, 2); }
uint32_t rio_peek32(rio_addr a) { return peek(a, 4); }
void rio_poke8 (rio_addr a, uint8_t  v) { poke(a, v, 1); }
void rio_poke16(rio_addr a, uint16_t v) { poke(a, v, 2); }
void rio_poke32(rio_addr a, uint32_t v) { poke(a, v, 4); }

uint32_t rio_ticks(void) { return tick - 1u; }
uint32_t rio_tick_us(void) { return TICK_US; }
int rio_init(void) { return 1; }
void rio_done(void) { }
void rio_log(const char *text) { fprintf(stderr, "%s\n", text); }

int rio_wait(void)
{
    uint32_t k;
    if (in_a_tick) {
        printf("%u ", tick - 1u);
        for (k = 0; k < COMMAND_COUNT; k++) printf("%02x", registers[commands[k]]);
        printf("\n");
    }
    in_a_tick = tick < IMAGE_COUNT;
    if (in_a_tick) memcpy(registers, images[tick++], IMAGE_BYTES);
    return in_a_tick;
}

WEAK void robot_setup(void) { }
WEAK void robot_step(void) { }
WEAK void robot_stop(void) { }

WEAK int main(void)
{
    rio_init();
    while (rio_wait()) {
        if (tick == 1u) robot_setup();
        robot_step();
    }
    robot_stop();
    rio_done();
    return 0;
}
