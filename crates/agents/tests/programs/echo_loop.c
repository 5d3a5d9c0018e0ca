/* Style B. */
#include "echo_body.h"

int main(void)
{
    int started = 0;
    rio_init();
    while (rio_wait()) {
        if (!started) rio_log_int("tick_us", (int32_t)rio_tick_us());
        started = 1;
        echo();
    }
    rio_poke8(0x20, 0);
    rio_log("bye");
    rio_done();
    return 0;
}
