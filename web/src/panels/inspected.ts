/** What `inspect` tells of a robot, joined with what `world` says of its type. Pure. */

import type { InspectedRobot, TypeInfo } from '../protocol';

export interface ChannelRow {
  part: string;
  name: string;
  unit: string;
  command: boolean;
  values: (number | null)[];
}

export interface RegisterRow {
  name: string;
  address: number;
  bytes: number;
  raw: number | null;
  /** The value of the channel behind it, if there is one. */
  value: number | null;
}

export function channelRows(robot: InspectedRobot, type: TypeInfo): ChannelRow[] {
  return type.parts.flatMap((part, p) =>
    part.channels.map((channel, c) => ({
      part: part.name,
      name: channel.name,
      unit: channel.unit,
      command: channel.command,
      values: robot.parts[p]?.[c] ?? [],
    })),
  );
}

export function registerRows(robot: InspectedRobot, type: TypeInfo): RegisterRow[] {
  return type.registers.map((register, k) => {
    const p = type.parts.findIndex((part) => part.name === register.part);
    const c = type.parts[p]?.channels.findIndex((channel) => channel.name === register.channel) ?? -1;
    return {
      name: register.name,
      address: register.address,
      bytes: register.bytes,
      raw: robot.registers[k] ?? null,
      value: robot.parts[p]?.[c]?.[register.index] ?? null,
    };
  });
}

/** What stays the same from message to message; when it does, only texts change. */
export function shapeOf(robot: InspectedRobot, type: TypeInfo): string {
  const lengths = robot.parts.map((part) => part.map((values) => values.length).join()).join(';');
  return `${robot.path} ${type.name} ${lengths} ${type.registers.length} ${type.controllers.length}`;
}
