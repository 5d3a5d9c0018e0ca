"""A stream module in Python: the interpolator between points of an arm (docs/modules.md).

    swarmyard simulate local 'trajectory points.txt' local 'python3 smooth_module.py' | swarmyard module display

It reads lines `Sender Recipient Command [variables]` and writes such lines. Four things make a program a module:
it passes on what is not for it; it starts over at the reset, `0 0 0` and six numbers; it flushes after every line;
it ends at the end of its input, or at the termination sequence `0 0 65534`. Needs nothing but Python 3.8.
"""
import os
import struct
import sys

ME = int(os.environ.get("SWARMYARD_MODULE", "2"))
DISPLAY = int(os.environ.get("DISPLAY_MODULE", "3"))
RESET, MOVE, END = 0, 10, 65534
STEPS = (1.0, 0.2, 0.2, 0.2, 0.2)  # of the base in metres, and of everything else


def single(x):
    """The nearest number of single precision: with more, sweeps would lose their last point."""
    return struct.unpack("f", struct.pack("f", x))[0]


def say(d, flag, v):
    numbers = ["%f" % d[0], "%f" % d[1], "%f" % v[0], "%d" % flag] + ["%f" % x for x in v[1:]]
    print(ME, DISPLAY, MOVE, *numbers, flush=True)


def move(old, values):
    """Leads over from the old point to a new one; answers the new one, or None when it is the end."""
    if len(values) == 5:  # the short form: BasePos BaseRot Jnt1 Jnt2 Jnt3
        values = [0, 0, values[0], 0] + values[1:]
    d, flag = values[:2], int(values[3])
    new = [single(x) for x in [values[2]] + values[4:]]
    if flag == 1:
        print(ME, DISPLAY, MOVE, "0. 0. 0. -1 0. 0. 0. 0.", flush=True)
        return None
    if old is None:
        say(d, flag, new)
        return new
    changed = [i for i in range(5) if abs(new[i] - old[i]) > 0.02]
    if changed:
        i, between = changed[0], list(old)
        step = single(STEPS[i])
        if abs(new[i] - old[i]) / step > 100000:
            print("the point is too far away:", new[i], file=sys.stderr)
            return old
        while between[i] <= new[i] if new[i] > old[i] else between[i] >= new[i]:
            say(d, flag, between)
            between[i] = single(between[i] + (step if new[i] > old[i] else -step))
    return new


def main():
    point = None
    for line in sys.stdin:
        words = line.split()
        try:
            sender, recipient, command = (int(w) for w in words[:3])
            values = [float(w) for w in words[3:]]
        except ValueError:
            print("not a line:", line.strip(), file=sys.stderr)
            continue
        if recipient != ME:
            print(line.rstrip("\n"), flush=True)  # for others, or for all: it goes on
        if sender == 0 and recipient == 0 and command == RESET:
            point = None
            say((0, 0), 0, [0.0] * 5)
        elif sender == 0 and recipient == 0 and command == END:
            return
        elif recipient == ME and command == MOVE and len(values) in (5, 8):
            point = move(point, values)
            if point is None:
                return


main()
