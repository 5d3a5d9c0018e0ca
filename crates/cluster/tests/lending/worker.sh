#!/bin/sh
# Stands for a worker: says where it is reached, and ends with its input.
number=$5
if [ "$number" = 13 ]; then exit 1; fi
echo "127.0.0.1:$((7000 + number))"
while read -r _; do :; done
