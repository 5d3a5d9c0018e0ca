"""A robot that lives by events, in Python: calls that wait, as in the cooperative-robots paper.

    from swarm import robot

    while True:
        how = robot.move_to(robot.uniform(0, 10), robot.uniform(0, 10), speed=0.5, turn_speed=1.0)
        if how.collided:
            robot.turn(3.14, turn_speed=1.0)

A call that waits (a motion, `receive`, `sleep`, `next_event`) ends this program's turn: the simulator goes on until
something happens to the robot. What happens meanwhile and was not waited for is kept for later: messages for
`receive`, everything else for `next_event`. Everything else answers at once. Metres, seconds, radians.

`print` works: it goes to stderr, which the simulator puts into the robot's log. The protocol is in
docs/cooperative-programs.md. Needs nothing but Python 3.8. Do not ask the clock or `random`: use `robot.now` and
`robot.uniform`, or runs will not repeat.
"""
import sys
from collections import deque, namedtuple

VERSION = 1

_in, _out = sys.stdin, sys.stdout
sys.stdout = sys.stderr  # what is printed must not get between the calls

Seen = namedtuple("Seen", "robot x y light")  # robot is -1 when it is none
Pending = namedtuple("Pending", "at conditional what")
Message = namedtuple("Message", "sender data broadcast")
Timer = namedtuple("Timer", "number")
Pushed = namedtuple("Pushed", "watch seen")


class Ended(namedtuple("Ended", "motion how other x y")):
    """How a motion ended: `finished`, `collided` (with robot `other`, or -1, at x, y), `replaced`, `swallowed`."""

    @property
    def finished(self):
        return self.how == "finished"

    @property
    def collided(self):
        return self.how == "collided"


class Robot:
    def __init__(self):
        words = _in.readline().split()
        if words[:1] != ["swarm"] or words[1] != str(VERSION):
            sys.exit("swarm: this is a robot's algorithm: start it from the simulator")
        self.me, self.robots, self.now = int(words[2]), int(words[3]), 0.0
        self._inbox, self._events, self._given = deque(), deque(), 0
        if self._read() != "start":
            sys.exit("swarm: the first event is not `start`")

    # ---- motions: they wait for their end; `start_...` do not, and answer the motion's number ----

    def move_to(self, x, y, speed, turn_speed):
        return self._until_ended(self.start_move_to(x, y, speed, turn_speed))

    def turn(self, by, turn_speed):
        return self._until_ended(self.start_turn(by, turn_speed))

    def forward(self, distance, speed):
        return self._until_ended(self.start_forward(distance, speed))

    def velocity(self, vx, vy, for_s):
        return self._until_ended(self.start_velocity(vx, vy, for_s))

    def arc(self, speed, spin, for_s):
        return self._until_ended(self.start_arc(speed, spin, for_s))

    def start_move_to(self, x, y, speed, turn_speed):
        return self._numbered("move_to", x, y, speed, turn_speed)

    def start_turn(self, by, turn_speed):
        return self._numbered("turn", by, turn_speed)

    def start_forward(self, distance, speed):
        return self._numbered("forward", distance, speed)

    def start_velocity(self, vx, vy, for_s):
        return self._numbered("velocity", vx, vy, for_s)

    def start_arc(self, speed, spin, for_s):
        return self._numbered("arc", speed, spin, for_s)

    def halt(self):
        self._call("halt")

    # ---- messages: bytes ----

    def send(self, to, data):
        self._call("send", int(to), data.hex() or "-")

    def send_all(self, data):
        """To all others."""
        self._call("send", "all", data.hex() or "-")

    def broadcast(self, data):
        """By the protocol at the port `broadcast`, to all, itself among them."""
        self._call("broadcast", data.hex() or "-")

    def receive(self, timeout=None):
        """The next message; waits for it. `None` when none comes in time."""
        if self._inbox:
            return self._inbox.popleft()
        timer = None if timeout is None else self.timer(timeout)
        while not self._inbox:
            if self._until(lambda event: event is None or event == Timer(timer)) is not None:
                return None
        if timer is not None:
            self.cancel(timer)
        return self._inbox.popleft()

    # ---- time ----

    def sleep(self, seconds):
        timer = Timer(self.timer(seconds))
        self._until(lambda event: event == timer)

    def timer(self, after_s):
        return self._numbered("timer", after_s)

    def cancel(self, timer):
        self._call("cancel", timer)

    def next_event(self):
        """Whatever happens next and is no message: `Ended`, `Timer` or `Pushed`; waits for it."""
        return self._events.popleft() if self._events else self._until(lambda event: event is not None)

    # ---- sensors, chance, and the rest: these answer at once ----

    def gps(self, error=0.0):
        return tuple(float(word) for word in self._ask("gps", error, "point"))

    def gps_all(self, error=0.0):
        return _seen(self._ask("gps_all", error, "seen"))

    def view(self, range_m):
        return _seen(self._ask("view", range_m, "seen"))

    def proximity(self, range_m):
        return [float(word) for word in self._ask("proximity", range_m, "numbers")[1:]]

    def uniform(self, low=0.0, high=1.0):
        return low + (high - low) * float(self._ask("uniform", 1, "numbers")[1])

    def pending(self, other=None):
        words = self._ask("pending", self.me if other is None else other, "pending")[1:]
        return [Pending(float(a), b == "1", c) for a, b, c in zip(words[0::3], words[1::3], words[2::3])]

    def watch_near(self, range_m, interval=0.0):
        """Switches a push sensor on; an interval of 0 is exact. Answers the watch's number."""
        return self._numbered("watch_near", range_m, interval)

    def watch_contact(self, interval=0.0):
        return self._numbered("watch_contact", interval)

    def unwatch(self, watch):
        self._call("unwatch", watch)

    def shine(self, light):
        self._call("shine", light)

    def say(self, text):
        self._call("say", " ".join(str(text).split()))

    # ---- lines ----

    def _call(self, *words):
        _out.write(" ".join(repr(w) if isinstance(w, float) else str(w) for w in words) + "\n")

    def _numbered(self, word, *numbers):
        # Motions, timers and watches are numbered together, in the order of the calls.
        self._given += 1
        self._call(word, *(float(n) for n in numbers))
        return self._given

    def _ask(self, word, argument, answer):
        self._call(word, argument)
        _out.flush()
        words = self._line()
        if words[:1] != [answer]:
            raise RuntimeError(" ".join(words[1:]) or "no answer")
        return words[1:]

    def _line(self):
        line = _in.readline()
        if line.strip() in ("", "stop"):
            sys.exit(0)
        return line.split()

    def _until(self, wanted):
        """Ends turns until an event is wanted, which is answered; a message shows as `None`. Others are kept."""
        while True:
            _out.write(".\n")
            _out.flush()
            event = self._read()
            if isinstance(event, Message):
                self._inbox.append(event)
                event = None
            if wanted(event):
                return event
            if event is not None:
                self._events.append(event)

    def _until_ended(self, motion):
        return self._until(lambda event: isinstance(event, Ended) and event.motion == motion)

    def _read(self):
        words = self._line()
        if words[0] == "now":
            self.now = float(words[1])
            words = self._line()
        if words[0] == "ended":
            at = [int(words[3]), float(words[4]), float(words[5])] if words[2] == "collided" else [-1, 0.0, 0.0]
            return Ended(int(words[1]), words[2], *at)
        if words[0] in ("message", "broadcast"):
            data = b"" if words[2] == "-" else bytes.fromhex(words[2])
            return Message(int(words[1]), data, words[0] == "broadcast")
        if words[0] == "timer":
            return Timer(int(words[1]))
        if words[0] == "pushed":
            return Pushed(int(words[1]), _seen(words[3:]) if words[2] == "seen" else words[3:])
        return words[0]


def _seen(words):
    words = words[1:]
    each = zip(words[0::4], words[1::4], words[2::4], words[3::4])
    return [Seen(int(r), float(x), float(y), int(light)) for r, x, y, light in each]


robot = Robot()
