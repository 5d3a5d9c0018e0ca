#!/bin/sh
# run.sh - runs an unchanged controller natively, against recorded registers.
#
#   run.sh CONTROLLER.c REGISTERS_DIR IMAGES_FILE
#
# The same as ../cortex-m3/run.sh, without the emulator: the two must print the same.
set -eu

if [ $# -ne 3 ]; then
    sed -n 's/^# \{0,1\}//; 2,6p' "$0" >&2
    exit 2
fi
controller=$1 registers=$2 recorded=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -v tick_us="${TICK_US:-50000}" -f "$here/../images.awk" "$registers/registers.h" "$recorded" > "$work/images.h"
${CC:-clang} -std=c99 -O2 -Wall -Wextra '-DRIO_BOARD="board.h"' -I"$here" -I"$here/../.." -I"$registers" -I"$work" \
    "$controller" "$here/board.c" -o "$work/robot"
"$work/robot"
