/** What stands still in the 3-D view: floor, tracks, walls, obstacles, beacons. */

import * as THREE from 'three';
import type { BeaconMark, Point, TrackMark } from '../protocol';
import { boxOf, isEmpty } from './geometry';
import { ink } from './ink';
import { boundsOfAll, fixedOf } from './pick';
import { colour, prism } from './three-tools';
import type { View } from './view';

const WALL_HEIGHT = 0.4;
const WALL_WIDTH = 0.03;
const OBSTACLE_HEIGHT = 0.3;

export function buildStill(view: View): THREE.Group {
  const group = new THREE.Group();
  const { world, hidden, layers, selection } = view.store;
  if (!world) return group;
  const colours = ink();
  addFloor(group, view);
  for (const track of world.drawing.tracks)
    if (!hidden.has(track.path)) group.add(named(trackMesh(track), track.path));
  const wall = colour(colours['obstacle-edge']);
  const obstacle = colour(colours.obstacle);
  const chosen = colour(colours.select);
  for (const fixed of fixedOf(world)) {
    if (hidden.has(fixed.id)) continue;
    const isChosen = selection.has(fixed.id);
    for (const line of fixed.lines) {
      const isWall = fixed.kind === 'wall';
      const paint = new THREE.MeshLambertMaterial({ color: isChosen ? chosen : isWall ? wall : obstacle });
      const meshes = isWall
        ? pieces(line, WALL_WIDTH, WALL_HEIGHT).map((geometry) => new THREE.Mesh(geometry, paint))
        : [new THREE.Mesh(prism(line, OBSTACLE_HEIGHT), paint)];
      for (const mesh of meshes) group.add(named(mesh, fixed.id));
    }
  }
  for (const beacon of world.drawing.beacons ?? [])
    if (!hidden.has(beacon.path)) addBeacon(group, beacon, layers.beacons);
  return group;
}

function named<T extends THREE.Object3D>(object: T, id: string): T {
  object.userData['id'] = id;
  return object;
}

function addFloor(group: THREE.Group, view: View): void {
  const { world } = view.store;
  const { bounds } = world?.drawing ?? { bounds: null };
  const all = boundsOfAll(view.store);
  if (isEmpty(all)) return;
  const box = bounds
    ? boxOf(bounds)
    : { minX: all.minX - 2, minY: all.minY - 2, maxX: all.maxX + 2, maxY: all.maxY + 2 };
  const [width, depth] = [box.maxX - box.minX, box.maxY - box.minY];
  const floor = new THREE.Mesh(
    new THREE.PlaneGeometry(width, depth),
    new THREE.MeshBasicMaterial({ color: colour(ink().floor) }),
  );
  floor.position.set((box.minX + box.maxX) / 2, (box.minY + box.maxY) / 2, -0.004);
  group.add(floor, gridLines(box.minX, box.minY, box.maxX, box.maxY));
  if (!bounds) return;
  // The world's border: a low kerb, so that one sees over it.
  const paint = new THREE.MeshLambertMaterial({ color: colour(ink().border) });
  const corners: Point[] = [
    [box.minX, box.minY],
    [box.maxX, box.minY],
    [box.maxX, box.maxY],
    [box.minX, box.maxY],
    [box.minX, box.minY],
  ];
  for (const geometry of pieces(corners, 0.02, 0.06)) group.add(new THREE.Mesh(geometry, paint));
}

function gridLines(minX: number, minY: number, maxX: number, maxY: number): THREE.Object3D {
  const step = Math.pow(10, Math.ceil(Math.log10(Math.max(maxX - minX, maxY - minY) / 60)));
  const points: number[] = [];
  for (let k = Math.ceil(minX / step); k * step <= maxX; k++)
    points.push(k * step, minY, 0, k * step, maxY, 0);
  for (let k = Math.ceil(minY / step); k * step <= maxY; k++)
    points.push(minX, k * step, 0, maxX, k * step, 0);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(points, 3));
  return new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: colour(ink().coarse) }));
}

/** The pieces of a line as upright slabs. */
function pieces(line: readonly Point[], width: number, height: number): THREE.BufferGeometry[] {
  return line.slice(1).map((b, k) => {
    const a = line[k] as Point;
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
    const geometry = new THREE.BoxGeometry(length + width, width, height);
    geometry.rotateZ(Math.atan2(b[1] - a[1], b[0] - a[0]));
    geometry.translate((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, height / 2);
    return geometry;
  });
}

function trackMesh(track: TrackMark): THREE.Object3D {
  const paint = new THREE.MeshLambertMaterial({ color: colour(ink().track) });
  if (track.width === null) return new THREE.Mesh(prism(track.points, 0.002), paint);
  const group = new THREE.Group();
  for (const geometry of pieces(track.points, track.width, 0.003)) group.add(new THREE.Mesh(geometry, paint));
  group.traverse((o) => named(o, track.path));
  return group;
}

function addBeacon(group: THREE.Group, beacon: BeaconMark, hasCone: boolean): void {
  const [x, y, heading] = beacon.pose;
  const height = Math.max(0.15, beacon.height);
  const paint = new THREE.MeshLambertMaterial({ color: colour(ink().beacon) });
  const tower = new THREE.CylinderGeometry(0.025, 0.045, height, 12);
  tower.rotateX(Math.PI / 2);
  tower.translate(x, y, height / 2);
  const lamp = new THREE.SphereGeometry(0.045, 12, 8);
  lamp.translate(x, y, height);
  for (const geometry of [tower, lamp]) group.add(named(new THREE.Mesh(geometry, paint), beacon.path));
  if (!hasCone) return;
  const isAllAround = !(beacon.aperture > 0 && beacon.aperture < 2 * Math.PI - 1e-6);
  const angle = isAllAround ? 2 * Math.PI : beacon.aperture;
  const light = new THREE.CircleGeometry(beacon.range, 40, heading - angle / 2, angle);
  light.translate(x, y, 0.008);
  const glow = new THREE.MeshBasicMaterial({
    color: colour(ink().cone),
    transparent: true,
    opacity: 0.14,
    depthWrite: false,
  });
  group.add(new THREE.Mesh(light, glow));
}
