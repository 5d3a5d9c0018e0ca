"""Robot I/O for Python: a controller as a process that speaks lines (docs/register-protocol.md).

    import swarmyard_rio as rio

    for tick in rio.ticks():
        near = rio.peek16(0x10) < 300
        rio.poke8(0x20, -40 if near else 60)

What you peek is how things stood when the tick began; what you poke takes effect when it ends.
`print` works: it goes to stderr, which the simulator shows. Needs nothing but Python 3.8.
"""
import sys

VERSION = 1

tick = 0        # number of this tick
tick_us = 0     # its length in microseconds
registers = {}  # name -> {"at", "bytes", "count", "signed", "scale", "offset", "unit", "access"}

_in, _out = sys.stdin, sys.stdout
sys.stdout = sys.stderr  # what is printed must not get between the answers
_memory = {}             # address -> byte
_ports = set()


def _send(line):
    _out.write(line + "\n")


def _receive():
    _out.flush()
    return _in.readline().split()


def _fields(words):
    return dict(word.split("=", 1) for word in words)


def _greet():
    global tick_us
    words = _receive()
    if words[:1] != ["rio"]:
        sys.exit("swarmyard_rio: this is a robot's controller: start it from the simulator")
    _send(f"rio {VERSION}")
    if words[1] != str(VERSION):
        _out.flush()
        sys.exit(f"swarmyard_rio: the simulator speaks version {words[1]}, this file {VERSION}")
    tick_us = int(_fields(words[2:])["tick_us"])
    while True:
        words = _receive()
        if words[:1] in ([], ["ready"]):
            return
        if words[0] == "reg":
            about = _fields(words[2:])
            for key in ("at", "bytes", "count", "signed"):
                about[key] = int(about[key], 0)
            for key in ("scale", "offset"):
                about[key] = float(about[key])
            registers[words[1]] = about
        elif words[0] == "span":
            about = _fields(words[1:])
            if about["access"] == "port":
                at = int(about["at"], 0)
                _ports.update(range(at, at + int(about["bytes"])))


def ticks():
    """Goes through the ticks; what the loop's body poked is handed over when it goes on."""
    global tick
    _greet()
    while True:
        words = _receive()
        if words[:1] != ["tick"]:
            return  # `stop`, or the simulator is gone
        tick = int(words[1])
        for item in words[2:]:
            at, data = item.split("=")
            for k, byte in enumerate(bytes.fromhex(data)):
                _memory[int(at, 0) + k] = byte
        yield tick
        sys.stderr.flush()
        _send(f"done {tick}")


def _peek(address, width, signed=False):
    places = range(address, address + width)
    if address % width or not all(p in _memory or p in _ports for p in places):
        _send(f"badpeek{8 * width} {address:#x}")
    if address % width:
        return 0
    if any(p in _ports for p in places):
        _send(f"peek{8 * width} {address:#x}")
        value = int(_receive()[1])
    else:
        value = int.from_bytes(bytes(_memory.get(p, 0) for p in places), "little")
    if signed and value >> (8 * width - 1):
        value -= 1 << (8 * width)
    return value


def peek8(address):
    return _peek(address, 1)


def peek16(address):
    return _peek(address, 2)


def peek32(address):
    return _peek(address, 4)


def peeks8(address):
    return _peek(address, 1, signed=True)


def peeks16(address):
    return _peek(address, 2, signed=True)


def peeks32(address):
    return _peek(address, 4, signed=True)


def poke8(address, value):
    _send(f"poke8 {address:#x} {int(value)}")


def poke16(address, value):
    _send(f"poke16 {address:#x} {int(value)}")


def poke32(address, value):
    _send(f"poke32 {address:#x} {int(value)}")


def _place(name, index):
    about = registers[name]
    if not 0 <= index < about["count"]:
        raise IndexError(f"register `{name}` has {about['count']} numbers, not one at `{index}`")
    return about, about["at"] + index * about["bytes"]


def get(name, index=0):
    """The value of a register by name, in its unit."""
    about, at = _place(name, index)
    return _peek(at, about["bytes"], bool(about["signed"])) * about["scale"] + about["offset"]


def put(name, value, index=0):
    """Writes a register by name, in its unit; values beyond its range stick at the end."""
    about, at = _place(name, index)
    bits = 8 * about["bytes"]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if about["signed"] else (0, (1 << bits) - 1)
    count = round((value - about["offset"]) / about["scale"])
    _send(f"poke{bits} {at:#x} {max(low, min(high, count))}")


def log(text):
    """Says something on the simulator's console."""
    for line in str(text).split("\n"):
        _send("log " + line[:1000])
