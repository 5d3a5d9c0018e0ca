#!/usr/bin/env python3
"""wander.py - wanders about and gets out of corners, in Python.

The robot has (worlds/parts/vehicle.robot) a ring of eight sonars (0 ahead, counter-clockwise, in m), a
bumper of eight sectors in the same order, and two wheels (m/s). Registers are used by name, in their
unit: what has which name is in `rio.registers`.

The idea: a behaviour is a generator that yields wheel speeds, one pair per tick, and ends when it has
nothing to do any more. `wander` never ends; `escape` and `turn_away` take over when there is a reason,
and then `wander` goes on where it was. So what a robot does one after the other is written one after
the other, without a machine of states.

Nothing here asks the clock or rolls dice, so a run repeats exactly.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "sdk" / "python"))
import swarmyard_rio as rio  # noqa: E402 (it is found only now)

CRUISE = 0.4       # m/s
TURN = 0.15        # m/s of each wheel, against each other
NEAR_AHEAD = 0.35  # m
NEAR_ASIDE = 0.2   # m, half left and half right


def sonar(k):
    return rio.get("sonar_range", k % 8)


def touched(*sectors):
    return any(rio.get("bumper_pressed", k % 8) for k in sectors)


def near_in_front():
    return sonar(0) < NEAR_AHEAD or sonar(1) < NEAR_ASIDE or sonar(-1) < NEAR_ASIDE


def free_side():
    """1 when there is more room at the left, else -1."""
    left, right = (sum(sonar(side * k) for k in (1, 2, 3)) for side in (1, -1))
    return 1 if left >= right else -1


def wander():
    """Straight on, with bends that grow wider and then begin anew."""
    while True:
        for bend in (0.04, -0.06, 0.08, -0.1):
            for _ in range(60):
                yield CRUISE, CRUISE
            for _ in range(30):
                yield CRUISE - bend, CRUISE + bend


def turn_away():
    """On the spot, to the side with more room, until the way is free."""
    side = free_side()
    while near_in_front():
        yield -side * TURN, side * TURN


def escape():
    """Back off, turn away from what was touched, and look again."""
    rio.log("ouch")
    side = -1 if touched(1, 2) else 1
    for _ in range(10):
        yield -TURN, -TURN
    for _ in range(20):
        yield -side * TURN, side * TURN
    yield from turn_away()


def behave():
    """What the robot does, tick by tick."""
    for speeds in wander():
        if touched(-2, -1, 0, 1, 2):
            yield from escape()
        elif near_in_front():
            yield from turn_away()
        yield speeds


behaviour = behave()
for _ in rio.ticks():
    left, right = next(behaviour)
    rio.put("drive_left", left)
    rio.put("drive_right", right)
