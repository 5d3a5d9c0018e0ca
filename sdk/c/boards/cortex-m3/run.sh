#!/bin/sh
# run.sh - runs an unchanged controller on an emulated Cortex-M3, against recorded registers.
#
#   run.sh CONTROLLER.c REGISTERS_DIR IMAGES_FILE
#
# REGISTERS_DIR has the registers.h of the robot type; IMAGES_FILE has one line per tick, the hex bytes
# of all registers from address 0 on. Prints `tick hex` per tick: the bytes of the command registers in
# the order of their addresses. What the controller logs goes to stderr. TICK_US: length of a tick.
# Needs clang, ld.lld and qemu-system-arm.
set -eu

if [ $# -ne 3 ]; then
    sed -n 's/^# \{0,1\}//; 2,9p' "$0" >&2
    exit 2
fi
controller=$1 registers=$2 recorded=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -v tick_us="${TICK_US:-50000}" -f "$here/../images.awk" "$registers/registers.h" "$recorded" > "$work/images.h"

compile() {
    clang --target=thumbv7m-none-eabi -mcpu=cortex-m3 -ffreestanding -fno-builtin -std=c99 -O2 -Wall -Wextra \
        -DRIO_MMIO -DRIO_BASE=0x20000000u -I"$here/../.." -I"$registers" -I"$work" -c "$1" -o "$2"
}
compile "$controller" "$work/controller.o"
compile "$here/board.c" "$work/board.o"
ld.lld -T "$here/board.ld" -o "$work/robot.elf" "$work/controller.o" "$work/board.o"

# qemu writes to a file and not into a pipe, so that its exit code is not lost.
status=0
timeout "${TIME_LIMIT:-60}" qemu-system-arm -M mps2-an385 -display none -monitor none -serial stdio \
    -semihosting-config enable=on,target=native -kernel "$work/robot.elf" > "$work/out" < /dev/null || status=$?
sed -n 's/^# //p' "$work/out" >&2
grep -v '^# ' "$work/out" || true
exit "$status"
