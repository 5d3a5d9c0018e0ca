"""Reads a recording with the `mcap` and `mcap-ros2-support` packages and compares it with numbers.

usage: read_with_python.py RECORDING EXPECTED.json

Prints `ok` and ends with 0 when everything is as expected.
"""

import json
import struct
import sys

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory


def near(found, expected, what):
    assert abs(found - expected) <= 1e-6 * max(1.0, abs(expected)), f"{what}: {found}, expected {expected}"


def check_odometry(msg, expected):
    near(msg.pose.pose.position.x, expected["x"], "x")
    near(msg.pose.pose.position.y, expected["y"], "y")
    near(msg.pose.pose.orientation.z, expected["qz"], "qz")
    near(msg.pose.pose.orientation.w, expected["qw"], "qw")
    near(msg.twist.twist.linear.x, expected["forward"], "forward")
    near(msg.twist.twist.angular.z, expected["spin"], "spin")
    assert msg.header.frame_id == "world" and msg.child_frame_id == "robots/r1", msg
    assert len(msg.pose.covariance) == 36 and len(msg.twist.covariance) == 36


def check_scan(msg, expected):
    near(msg.angle_min, expected["angle_min"], "angle_min")
    near(msg.angle_max, expected["angle_max"], "angle_max")
    near(msg.angle_increment, expected["angle_increment"], "angle_increment")
    near(msg.range_max, expected["range_max"], "range_max")
    assert [r for r in msg.ranges] == [float(r) for r in expected["ranges"]], msg.ranges


def main(path, expected_path):
    with open(expected_path, encoding="utf-8") as file:
        expected = json.load(file)
    last, raw, topics = {}, {}, {}
    with open(path, "rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        attachments = [a.name for a in reader.iter_attachments()]
        assert attachments == ["scenario/yard.toml", "scenario/parts.toml"], attachments
        metadata = {m.name: m.metadata for m in reader.iter_metadata()}
        assert metadata["swarmyard"]["seed"] == str(expected["seed"]), metadata
        for schema, channel, message in reader.iter_messages():
            topics[channel.topic] = topics.get(channel.topic, 0) + 1
            raw[channel.topic] = message
            assert schema is not None and len(schema.data) > 0, channel.topic
        ros = [topic for topic in topics if topic.startswith("/robots/")] + ["/tf"]
        for _, channel, _, decoded in reader.iter_decoded_messages(topics=ros):
            last[channel.topic] = decoded
    assert topics["/swarmyard/hash"] == topics["/robots/r1/odom"] == expected["frames"], topics

    check_odometry(last["/robots/r1/odom"], expected)
    check_scan(last["/robots/r1/rays"], expected)
    near(last["/robots/r1/nose"].range, 1.0, "nose")
    drive = last["/robots/r1/drive"]
    assert drive.layout.dim[0].label == "driven" and drive.layout.dim[0].size == 1
    near(drive.data[0], expected["forward"], "driven")
    transform = last["/tf"].transforms[0]
    near(transform.transform.translation.x, expected["x"], "tf x")
    assert transform.child_frame_id == "robots/r1"

    header = json.loads(raw["/swarmyard/header"].data)
    assert header["scenario"] == "yard.toml" and header["seed"] == expected["seed"]
    bodies = json.loads(raw["/swarmyard/bodies"].data)
    disc = next(t for t in bodies["types"] if t["name"] == "disc")
    poses = raw[disc["topic"]].data
    step, _hash, count = struct.unpack_from("<QQI", poses)
    x, y, _heading = struct.unpack_from("<fff", poses, 20)
    assert (step, count) == (expected["step"], disc["count"]), (step, count)
    near(x, expected["x"], "packed x")
    near(y, expected["y"], "packed y")
    end = json.loads(raw["/swarmyard/end"].data)
    assert end["step"] == expected["step"] and end["stopped"] is None
    assert raw["/swarmyard/end"].log_time == expected["time_ns"]
    print("ok")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
