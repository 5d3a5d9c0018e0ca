/* Style A. */
#include "echo_body.h"

void robot_setup(void) { rio_log_int("tick_us", (int32_t)rio_tick_us()); }
void robot_step(void) { echo(); }
void robot_stop(void) { rio_poke8(0x20, 0); rio_log("bye"); }
