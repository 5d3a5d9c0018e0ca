#!/usr/bin/env python3
"""help.py - robots that ask for help, in Python.

The first robot needs three helpers. It asks all others, each tells how far away it is, and the nearest that is free
is called to a place beside it; when that one is there, it asks for the next. Messages take a random time, so offers
come in any order, and only the numbers in them say which question they answer.

    r1  help K X Y ──▶ all          others  offer K DISTANCE ──▶ r1
    r1  come X Y   ──▶ the nearest          here             ──▶ r1

World: worlds/python-help.toml (metres, seconds, radians).
"""
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "sdk" / "python"))
from swarm import robot  # noqa: E402 (it is found only now)

HELPERS = 3
BESIDE = 40.0  # m from the one that asked
BUSY = 1e9     # m: the distance of one that cannot come


def words_of(message):
    return message.data.decode().split()


def ask(k):
    """Calls the nearest that is free, and waits for it."""
    x, y = robot.gps()
    robot.send_all(f"help {k} {x!r} {y!r}".encode())
    offers = []
    while len(offers) < robot.robots - 1:
        message = robot.receive()
        words = words_of(message)
        if words[:2] == ["offer", str(k)]:
            offers.append((float(words[2]), message.sender))
    distance, nearest = min(offers)
    if distance == BUSY:
        robot.say("nobody is free")
        return
    robot.say(f"robot {nearest} is the nearest, {distance:.1f} m away")
    angle = 2 * math.pi * k / HELPERS
    robot.send(nearest, f"come {x + BESIDE * math.cos(angle)!r} {y + BESIDE * math.sin(angle)!r}".encode())
    while words_of(robot.receive()) != ["here"]:
        pass
    robot.say(f"robot {nearest} is here")


def help_others():
    free = True
    while True:
        message = robot.receive()
        words = words_of(message)
        if words[0] == "help":
            x, y = robot.gps()
            distance = math.hypot(float(words[2]) - x, float(words[3]) - y) if free else BUSY
            robot.send(message.sender, f"offer {words[1]} {distance!r}".encode())
        elif words[0] == "come":
            free = False
            while not robot.move_to(float(words[1]), float(words[2]), speed=8.0, turn_speed=1.0).finished:
                robot.sleep(1.0)
            robot.send(message.sender, b"here")


if robot.me == 0:
    robot.sleep(5.0)
    for k in range(HELPERS):
        ask(k)
    robot.shine(1)
    robot.say("all are here")
    while True:
        robot.receive()
else:
    help_others()
