"""A stream module in Python: the interpolator between points of an arm (docs/modules.md).

    swarmyard simulate local 'trajectory points.txt' local 'python3 smooth_module.py' | swarmyard module display

It reads lines `Sender Recipient Command [variables]` and writes such lines. Four things make a program a module:
it passes on what is not for it; it starts over at the reset, `0 0 0` and six numbers; it flushes after every line;
it ends at the end of its input, or at the termination sequence `0 0 65534`. In a chain of plain pipes nobody but the
module itself can switch it on and off, so it knows those commands too, and its parameters: 1 is the step of the base,
2 that of everything else, 3 the change that is none. What is no line is told on stderr and goes nowhere. It speaks to
the next number, or to that of the environment variable DISPLAY_MODULE. Needs nothing but Python 3.8.
"""
import math
import os
import re
import struct
import sys

ME = int(os.environ.get("SWARMYARD_MODULE", "2"))
DISPLAY = int(os.environ.get("DISPLAY_MODULE", ME + 1))
RESET, MOVE, SET, OFF, ON, END, NOBODY = 0, 10, 65531, 65532, 65533, 65534, 65535
USUAL = {1: 1.0, 2: 0.2, 3: 0.02}  # step of the base in metres, of everything else, and the threshold
MOST_BYTES, MOST_VALUES, MOST_STEPS = 2048, 64, 50000  # of a line, and of a way to a point


def single(x):
    """The nearest number of single precision: with more, sweeps would lose their last point."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def say(d, flag, v):
    numbers = ["%f" % d[0], "%f" % d[1], "%f" % v[0], "%d" % flag] + ["%f" % x for x in v[1:]]
    print(ME, DISPLAY, MOVE, *numbers, flush=True)


class Interpolator:
    def __init__(self):
        self.is_on = True
        self.start_over()

    def start_over(self):
        self.point, self.parameters = None, dict(USUAL)

    def set(self, which, value):
        try:
            is_fine = which in USUAL and single(value) > 0
        except OverflowError:
            is_fine = False
        if not is_fine:
            print("parameters are 1 and 2 (steps), 3 (threshold), each greater than 0", file=sys.stderr)
            return
        self.parameters[int(which)] = value

    def go_to(self, values):
        """Leads over from the point before to a new one; answers whether there may be more."""
        if len(values) == 5:  # the short form: BasePos BaseRot Jnt1 Jnt2 Jnt3
            values = [0, 0, values[0], 0] + values[1:]
        d, flag = values[:2], int(values[3])
        if flag == 1:
            print(ME, DISPLAY, MOVE, "0. 0. 0. -1 0. 0. 0. 0.", flush=True)
            return False
        try:
            d, new = [single(x) for x in d], [single(x) for x in [values[2]] + values[4:]]
        except OverflowError:
            print("the number is too great:", values, file=sys.stderr)
            return True
        if self.point is None:
            say(d, flag, new)
        elif not self.lead_over(d, flag, new):
            return True
        self.point = new
        return True

    def lead_over(self, d, flag, new):
        """The first value that has changed goes in steps; answers whether the point can be reached."""
        changed = [i for i in range(5) if abs(single(new[i] - self.point[i])) > self.parameters[3]]
        if not changed:
            return True
        i, between = changed[0], list(self.point)
        step = single(self.parameters[1 if i == 0 else 2])
        way = sweep(between[i], new[i], -step if new[i] < between[i] else step)
        if way is None:
            print("the point is too far away:", new[i], file=sys.stderr)
            return False
        for between[i] in way:
            say(d, flag, between)
        return True


def sweep(at, end, step):
    """Values from one to another in steps, or None: a step may get lost on the way, where numbers get greater."""
    way = []
    while at >= end if step < 0 else at <= end:
        way.append(at)
        try:
            after = single(at + step)
        except OverflowError:
            break
        if after == at or len(way) > MOST_STEPS + 1:
            return None
        at = after
    return way


WHOLE = re.compile(r"[0-9]+\Z")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")


def read(line):
    """Sender, recipient, command and values of a line; ValueError when it is none. Bytes that are no text are none."""
    text = line.decode("ascii")
    words = [w for w in re.split("[ \t]", text) if w]
    if len(line) > MOST_BYTES or len(words) > 3 + MOST_VALUES:
        raise ValueError("it is too long")
    if len(words) < 3 or not all(WHOLE.match(w) for w in words[:3]) or not all(NUMBER.match(w) for w in words[3:]):
        raise ValueError("it is not three whole numbers and then numbers")
    head, values = [int(w) for w in words[:3]], [float(w) for w in words[3:]]
    if max(head) > 65535 or head[0] == NOBODY or not all(math.isfinite(x) for x in values):
        raise ValueError("a number is too great")
    return head, values, text


def main():
    me = Interpolator()
    for line in sys.stdin.buffer:
        line = line[:-1] if line.endswith(b"\n") else line
        line = line[:-1] if line.endswith(b"\r") else line
        try:
            (sender, recipient, command), values, text = read(line)
        except ValueError as why:
            print("not a line:", line[:120], why, file=sys.stderr)
            continue
        if recipient != ME:
            print(text, flush=True)  # for others, or for all: it goes on
        if recipient not in (ME, 0):
            continue
        if sender == 0 and recipient == 0 and command == RESET:
            me.start_over()
            say((0, 0), 0, [0.0] * 5)
        elif sender == 0 and recipient == 0 and command == END:
            return
        elif sender == 0 and command in (ON, OFF):
            me.is_on = command == ON
        elif not me.is_on:
            continue
        elif sender == 0 and command == SET and len(values) == 2:
            me.set(values[0], values[1])
        elif command == MOVE and len(values) in (5, 8) and not me.go_to(values):
            return


main()
