#!/usr/bin/env python3
"""A console of your own: everything the browser page can do, over one WebSocket.

    pip install websockets
    swarmyard serve worlds/one-robot.toml       # in one window; it prints its address
    python3 console.py http://127.0.0.1:7077/   # in another; with --end it ends the run too

It joins, drives the run a little, goes back to the start, moves the first robot of the scenario, saves
the scenario and leaves. The protocol is in docs/display-protocol.md.
"""

import json
import sys

from websockets.sync.client import connect


class Console:
    """One connection. Requests are answered in order; between the answers the server tells what is new."""

    def __init__(self, socket):
        self.socket = socket
        self.said = {}  # the newest message of each sort: "status", "world", "control", …
        self.last_id = 0
        # The first message says who we are. "console" asks for control, which one display has at a time.
        self.send(do="hello", version=1, name="console.py", console=True)
        for sort in ["welcome", "status", "control", "world"]:
            self.wait_until(lambda message: True, sort)

    def send(self, **message):
        self.socket.send(json.dumps(message))

    def hear(self):
        """Takes the next message. Text is JSON; bytes are frames, which this console does not draw."""
        data = self.socket.recv(timeout=20)
        if isinstance(data, bytes):
            return {"is": "frame"}
        message = json.loads(data)
        self.said[message["is"]] = message
        return message

    def wait_until(self, holds, sort="status"):
        """Waits until things stand as wished. The server tells of every change."""
        while sort not in self.said or not holds(self.said[sort]):
            self.hear()
        return self.said[sort]

    def ask(self, do, **what):
        """A request and its answer. A request that is refused has changed nothing, and says why."""
        self.last_id += 1
        self.send(id=self.last_id, do=do, **what)
        while True:
            message = self.hear()
            if message["is"] == "reply" and message["id"] == self.last_id:
                if "error" in message:
                    raise RuntimeError(f"{do}: {message['error']['message']}")
                return message["ok"]


def drive(run, end):
    if (run.said["control"]["holder"] or {}).get("id") != run.said["welcome"]["you"]:
        sys.exit(f"another console holds control: {run.said['control']['holder']}")
    # No pictures are wanted, but the numbers of one robot, ten times a second at most.
    entry = next(e for e in run.said["world"]["entries"] if e["section"] == "robot")
    run.ask("watch", frames=False, inspect=entry["paths"][:1])

    # Drive: some single steps, then as fast as possible, then stand still.
    run.ask("pause")
    run.ask("step", n=10)
    print("after ten steps:", run.wait_until(lambda s: s["stop"] >= 10)["time"], "s")
    run.ask("speed", factor=None)
    run.ask("start")
    run.wait_until(lambda s: s["stop"] >= 30)
    run.ask("pause")
    print("paused at stop", run.wait_until(lambda s: s["state"] != "running")["stop"])
    run.ask("reset")
    print("back at stop", run.wait_until(lambda s: s["stop"] == 0)["stop"])

    # Write: an edit names the revision it was made for, so nobody overwrites what he has not seen.
    move = {"op": "move", "entries": [entry["key"]], "by": [0.05, 0.0]}
    done = run.ask("edit", label="to the east", changes=[move], revision=run.said["status"]["revision"])
    # Or the whole text at once: it is the file, comments included.
    text = run.wait_until(lambda w: w["revision"] >= done["revision"], "world")["text"]
    text += "# Moved a little to the east by console.py.\n"
    run.ask("replace", label="a remark", text=text, revision=done["revision"])
    print("saved as", run.ask("save")["path"])

    if end:
        run.ask("exit")
    # Otherwise leaving is enough: the run goes on, and control is free.


if __name__ == "__main__":
    url = next((a for a in sys.argv[1:] if "://" in a), "http://127.0.0.1:7077/")
    place = url.split("://")[1].split("/")[0]
    # Frames of many robots are long: no limit on what the server may send.
    with connect(f"ws://{place}/v1/link", max_size=None) as link:
        drive(Console(link), "--end" in sys.argv)
