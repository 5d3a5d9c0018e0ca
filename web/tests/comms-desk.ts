/** A world whose robots talk, for tests and pictures. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from './harness';

const PLACES = [
  [-3, 1.6],
  [0, 2],
  [3, 1.2],
  [2.2, -1.8],
  [-2.2, -1.8],
] as const;

/** Five robots call each other over a network; the last one crashes for a while. */
export function writeRollCall(server: Server, network: string): string {
  const robots = PLACES.map(
    ([x, y], k) => `[[robot]]\nname = "r${k + 1}"\ntype = "caller"\nat = [${x}, ${y}]\n`,
  );
  const world = `format = 1
title = "Roll call"
[run]
quantum = "200ms"
duration = "600s"
[world]
min = [-4, -3]
max = [4, 3]
[network]
${network}
[type.caller]
radius = 0.25
colour = "#1f77b4"
[type.caller.algorithm]
class = "roll-call"
every = "4s"
${robots.join('')}
[[fault]]
at = "6s"
crash = ["r5"]
[[fault]]
at = "9s"
recover = ["r5"]
`;
  const path = 'worlds/roll-call-test.toml';
  writeFileSync(join(server.folder, path), world);
  return path;
}

export const SLOW = 'class = "random"\nmean = "800ms"\nloss = 0.15';
export const RADIO = 'class = "radio"\npath = "disc"\nrange = "4.5m"';
