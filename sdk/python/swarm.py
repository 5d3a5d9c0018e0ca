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
Message = namedtuple("Message", "sender data broadcast")
Timer = namedtuple("Timer", "number")
Pushed = namedtuple("Pushed", "watch seen")  # seen is what the sensor answered: [Seen], (x, y) or [number]
Passed = namedtuple("Passed", "motion name")  # an event of a motion pattern; the motion goes on

# Of protocols that the scenario names for the algorithm (`leader = "election"`).
Decided = namedtuple("Decided", "instance value")
Suspected = namedtuple("Suspected", "robot")
Trusted = namedtuple("Trusted", "robot")
Leads = namedtuple("Leads", "robot")
Entered = namedtuple("Entered", "")
View = namedtuple("View", "number members")
Cast = namedtuple("Cast", "sender data")
Clock = namedtuple("Clock", "reading error")  # error is None while it cannot say
Custom = namedtuple("Custom", "data")


class Pending(namedtuple("Pending", "at conditional what")):
    """Something that is going to happen; `robot` is the one that a collision is with, or -1."""

    robot = -1


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

    def pattern(self, name, *args):
        """A pattern of one of the robot's motion modules; what it passes on the way is kept as `Passed`."""
        return self._until_ended(self.start_pattern(name, *args))

    def start_pattern(self, name, *args):
        return self._numbered("pattern", name, *args)

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
            if self._until(lambda event: event is None or _is_timer(event, timer)) is not None:
                return None
        if timer is not None:
            self.cancel(timer)
        return self._inbox.popleft()

    # ---- protocols that the scenario names for the algorithm: they answer by events, see `wait_for` ----

    def propose(self, instance, value):
        """`consensus`: answered by `Decided`."""
        self._call("propose", int(instance), value.hex() or "-")

    def monitor(self):
        """`detector`: tells by `Suspected` and `Trusted`; those of the library do so from the start."""
        self._call("monitor")

    def elect(self):
        """`leader`: answered by `Leads`."""
        self._call("elect")

    def enter(self):
        """`mutex`: answered by `Entered`."""
        self._call("enter")

    def leave(self):
        self._call("leave")

    def join(self):
        """`membership`: answered by `View`."""
        self._call("join")

    def quit(self):
        self._call("quit")

    def exclude(self, other):
        self._call("exclude", int(other))

    def cast(self, data):
        """To all in the group, itself among them, as `Cast`."""
        self._call("cast", data.hex() or "-")

    def clock(self):
        """`clock`: answered by `Clock`."""
        self._call("clock")

    def clock_at(self, reading):
        """The same, when the clock shows that."""
        self._call("clock_at", float(reading))

    def private(self, data):
        """`custom`: bytes that a protocol of your own understands; it tells by `Custom`."""
        self._call("private", data.hex() or "-")

    # ---- what survives a crash of the robot ----

    def persist(self, data):
        """Writes bytes down, in place of what was there."""
        self._call("persist", data.hex() or "-")

    def persisted(self):
        """What was written down last; `None` when nothing was."""
        words = self._question("persisted")
        return _bytes(words[1]) if words[0] == "bytes" else None

    # ---- time ----

    def sleep(self, seconds):
        timer = self.timer(seconds)
        self._until(lambda event: _is_timer(event, timer))

    def timer(self, after_s):
        return self._numbered("timer", after_s)

    def cancel(self, timer):
        self._call("cancel", timer)

    def next_event(self):
        """Whatever happens next and is no message: `Ended`, `Timer`, `Pushed`, `Leads`, …; waits for it."""
        return self._events.popleft() if self._events else self._until(lambda event: event is not None)

    def wait_for(self, *kinds, **fields):
        """The next event of one of these kinds, as in `robot.wait_for(Decided, instance=3)`; waits for it."""

        def wanted(event):
            return isinstance(event, kinds) and all(getattr(event, k, None) == v for k, v in fields.items())

        for k, event in enumerate(self._events):
            if wanted(event):
                del self._events[k]
                return event
        return self._until(wanted)

    # ---- sensors, chance, and the rest: these answer at once ----

    def gps(self, error=0.0):
        return tuple(float(word) for word in self._ask("gps", error, "point"))

    def gps_all(self, error=0.0):
        return _seen(self._ask("gps_all", error, "seen"))

    def view(self, range_m):
        return _seen(self._ask("view", range_m, "seen"))

    def proximity(self, range_m):
        return [float(word) for word in self._ask("proximity", range_m, "numbers")[1:]]

    def proximity_points(self, range_m):
        """For each thing within the range the point of it that is nearest."""
        return _seen(self._ask("proximity_points", range_m, "seen"))

    def sense(self, sensor, *args):
        """A sensor of your own, by the name of the part: [Seen], (x, y) or [number]."""
        words = self._question("sense", sensor, *(float(n) for n in args))
        if words[0] == "no":
            raise RuntimeError(" ".join(words[1:]))
        return _answer(words)

    def uniform(self, low=0.0, high=1.0):
        return low + (high - low) * float(self._ask("uniform", 1, "numbers")[1])

    def pending(self, other=None):
        words = self._ask("coming", self.me if other is None else other, "coming")[1:]
        found = []
        for at, conditional, number, what in zip(words[0::4], words[1::4], words[2::4], words[3::4]):
            found.append(Pending(float(at), conditional == "1", what))
            found[-1].robot = int(number)
        return found

    def watch_near(self, range_m, interval=0.0):
        """Switches a push sensor on; an interval of 0 is exact. Answers the watch's number."""
        return self._numbered("watch_near", range_m, interval)

    def watch_contact(self, interval=0.0):
        return self._numbered("watch_contact", interval)

    def watch_own(self, sensor, interval=0.0, *args):
        """A sensor of your own, by the name of the part."""
        return self._numbered("watch_own", sensor, interval, *args)

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
        self._call(word, *(n if isinstance(n, str) else float(n) for n in numbers))
        return self._given

    def _question(self, *words):
        self._call(*words)
        _out.flush()
        return self._line()

    def _ask(self, word, argument, answer):
        words = self._question(word, argument)
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
            return Message(int(words[1]), _bytes(words[2]), words[0] == "broadcast")
        if words[0] == "timer":
            return Timer(int(words[1]))
        if words[0] == "pushed":
            return Pushed(int(words[1]), _answer(words[2:]))
        made = _NEWS.get(words[0])
        return made(words[1:]) if made else words[0]


def _seen(words):
    words = words[1:]
    each = zip(words[0::4], words[1::4], words[2::4], words[3::4])
    return [Seen(int(r), float(x), float(y), int(light)) for r, x, y, light in each]


def _is_timer(event, number):
    return isinstance(event, Timer) and event.number == number


def _bytes(word):
    return b"" if word == "-" else bytes.fromhex(word)


def _answer(words):
    if words[0] == "seen":
        return _seen(words[1:])
    if words[0] == "point":
        return (float(words[1]), float(words[2]))
    return [float(word) for word in words[2:]]


_NEWS = {
    "passed": lambda w: Passed(int(w[0]), " ".join(w[1:])),
    "decided": lambda w: Decided(int(w[0]), _bytes(w[1])),
    "suspected": lambda w: Suspected(int(w[0])),
    "trusted": lambda w: Trusted(int(w[0])),
    "leads": lambda w: Leads(int(w[0])),
    "entered": lambda w: Entered(),
    "view": lambda w: View(int(w[0]), [int(robot) for robot in w[2:]]),
    "cast": lambda w: Cast(int(w[0]), _bytes(w[1])),
    "clock": lambda w: Clock(float(w[0]), None if float(w[1]) < 0 else float(w[1])),
    "custom": lambda w: Custom(_bytes(w[0])),
}

robot = Robot()
