"""The echo controller over lines."""
import os
import sys

sys.path.insert(0, os.environ["RIO_PYTHON"])
import swarmyard_rio as rio

first = True
for tick in rio.ticks():
    if first:
        rio.log(f"tick_us {rio.tick_us}")
        first = False
    total = sum(rio.peek16(0x10 + 2 * k) for k in range(4))
    rio.poke8(0x20, max(-100, min(100, rio.peek16(0x10) - 500)))
    rio.poke8(0x21, rio.peek8(0x11))
    rio.poke32(0x24, total)
    rio.poke16(0x10, 1)
    rio.peek8(0x99)
    if tick % 3 == 2:
        rio.poke8(0x40, 7)
        rio.poke16(0x24, rio.peek32(0x40) & 0xFFFF)
    rio.log(f"sum {total}")
rio.poke8(0x20, 0)
rio.log("bye")
