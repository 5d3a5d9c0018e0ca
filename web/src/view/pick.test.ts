import { beforeEach, describe, expect, test } from 'vitest';
import type { Mark } from '../frames';
import type { WorldMessage } from '../protocol';
import { Store } from '../store';
import { distanceToShape, outlineOf, reachOf } from './geometry';
import { layerOf } from './marks';
import { boundsOf, boundsOfAll, fixedOf, markAt, objectsAt, objectsIn } from './pick';
import { Ring } from './ring';
import { Traces } from './traces';

const square = {
  corners: [
    [-0.1, -0.1],
    [0.1, -0.1],
    [0.1, 0.1],
    [-0.1, 0.1],
  ] as [number, number][],
  round: 0,
};

function message(): WorldMessage {
  return {
    is: 'world',
    revision: 1,
    file: null,
    title: '',
    mode: 'live',
    text: '',
    entries: [],
    owners: ['/world/walls/north', '/world/obstacles/block'],
    types: [{ name: 'bot', parts: [], controllers: [], registers: [] }],
    drawing: {
      bounds: null,
      types: [
        {
          name: 'bot',
          kind: 'robot',
          colour: null,
          outline: { corners: [[0, 0]], round: 0.2 },
          count: 2,
          names: [{ prefix: '/robots/r', from: 1, count: 2 }],
        },
        {
          name: 'crate',
          kind: 'obstacle',
          colour: null,
          outline: square,
          count: 1,
          names: [{ prefix: '/world/obstacles/crate', from: null, count: 1 }],
        },
      ],
      edges: [
        { kind: 'wall', owner: 0, a: [0, 5], b: [4, 5] },
        { kind: 'obstacle', owner: 1, a: [6, 0], b: [7, 0] },
        { kind: 'obstacle', owner: 1, a: [7, 0], b: [7, 1] },
        { kind: 'obstacle', owner: 1, a: [7, 1], b: [6, 0] },
      ],
      tracks: [
        {
          path: '/world/tracks/a',
          points: [
            [0, -3],
            [4, -3],
          ],
          width: 0.2,
          reflectivity: 1,
        },
      ],
      beacons: [{ path: '/world/beacons/b', id: 3, pose: [-4, 0, 0], aperture: 1, range: 2, height: 0.2 }],
    },
  };
}

function place(store: Store, poses: [number, number, number][], stop = 0): void {
  store.frame = {
    kind: 'bodies',
    serial: stop,
    revision: 1,
    stop,
    time: stop,
    hash: '',
    count: poses.length,
    rows: Float64Array.from(poses.flat()),
    flags: new Uint8Array(poses.length),
    contacts: [],
  };
}

let store: Store;
beforeEach(() => {
  store = new Store();
  store.setWorld(message());
  place(store, [
    [0, 0, 0],
    [1, 0, 1],
    [0.1, 0, 0],
  ]);
});

const at = (x: number, y: number): string[] => objectsAt(store, x, y, 0.02).map((o) => o.id);

describe('what is at a place', () => {
  test('a robot is on top of the crate that it covers', () => {
    expect(at(0.1, 0)).toEqual(['/robots/r1', '/world/obstacles/crate']);
    expect(at(0.21, 0)[0]).toBe('/robots/r1');
    expect(at(0.3, 0.3)).toEqual([]);
  });

  test('walls are hit near their line, obstacles inside, tracks within their width', () => {
    expect(at(2, 5.01)).toEqual(['/world/walls/north']);
    expect(at(2, 5.05)).toEqual([]);
    expect(at(6.8, 0.3)).toEqual(['/world/obstacles/block']);
    expect(at(6.2, 0.8)).toEqual([]);
    expect(at(1, -3.09)).toEqual(['/world/tracks/a']);
    expect(at(-4.03, 0)).toEqual(['/world/beacons/b']);
  });

  test('what is hidden or not accepted is passed over', () => {
    store.hidden = new Set(['/robots/r1']);
    expect(at(0.1, 0)).toEqual(['/world/obstacles/crate']);
    expect(objectsAt(store, 0.1, 0, 0.02, () => false)).toEqual([]);
  });

  test('a box catches only what lies wholly inside', () => {
    const ids = objectsIn(store, { minX: -0.5, minY: -1, maxX: 1.1, maxY: 1 }).map((o) => o.id);
    expect(ids).toEqual(['/robots/r1', '/world/obstacles/crate']);
  });

  test('the edges of one owner are one thing', () => {
    const [wall, block] = fixedOf(store.world!);
    expect(wall?.lines).toHaveLength(1);
    expect(block?.lines[0]).toHaveLength(4);
    expect(boundsOf(store, '/world/obstacles/block')).toEqual({ minX: 6, minY: 0, maxX: 7, maxY: 1 });
    expect(boundsOfAll(store).maxX).toBe(7);
    expect(boundsOf(store, '/nobody')).toBeNull();
  });

  test('the nearest mark is found, in the frame of its robot', () => {
    const ray: Mark = {
      shape: 'line',
      points: [
        [0, 0],
        [0, 1],
      ],
      part: 0,
      channel: 0,
      index: 4,
    };
    const arc: Mark = {
      shape: 'arc',
      x: 0,
      y: 0,
      radius: 1,
      from: -0.2,
      to: 0.2,
      part: 0,
      channel: 0,
      index: 5,
    };
    store.marks = {
      kind: 'marks',
      serial: 0,
      revision: 1,
      stop: 0,
      time: 0,
      robots: [{ body: 0, marks: [ray, arc] }],
    };
    expect(markAt(store, 0.01, 0.5, 0.02)?.mark.index).toBe(4);
    expect(markAt(store, 0.99, 0, 0.02)?.mark.index).toBe(5);
    expect(markAt(store, 0.5, 0.01, 0.02)?.mark.index).toBe(5);
    expect(markAt(store, -0.5, 0, 0.02)).toBeNull();
  });
});

describe('shapes', () => {
  test('a disc is one corner that is grown', () => {
    const disc = { corners: [[0, 0]] as [number, number][], round: 0.2 };
    expect(reachOf(disc)).toBeCloseTo(0.2);
    expect(distanceToShape([0.5, 0], disc)).toBeCloseTo(0.3);
    for (const [x, y] of outlineOf(disc)) expect(Math.hypot(x, y)).toBeCloseTo(0.2);
  });

  test('a grown hull is as far from its corners as it was grown', () => {
    const shape = { ...square, round: 0.05 };
    for (const [x, y] of outlineOf(shape)) expect(distanceToShape([x, y], square)).toBeCloseTo(0.05);
    expect(distanceToShape([0, 0], shape)).toBe(0);
  });
});

describe('the toggle of a mark', () => {
  const line = (n: number): Mark => ({
    shape: 'line',
    points: Array.from({ length: n }, (_, k) => [k, 0]),
    part: 0,
    channel: 0,
    index: 0,
  });
  test('follows from its shape, and for links from the class of its part', () => {
    expect(layerOf(line(2), 'range-rays')).toBe('rays');
    expect(layerOf(line(3), 'sonar')).toBe('sensors');
    expect(layerOf({ shape: 'circle', x: 0, y: 0, radius: 1, part: 0, channel: 0, index: 0 }, 'x')).toBe(
      'sensors',
    );
    expect(layerOf(line(2), 'radio')).toBe('links');
  });
});

describe('what a run leaves behind', () => {
  test('a ring keeps the newest', () => {
    const ring = new Ring(2, 3);
    for (let k = 0; k < 5; k++) ring.push(k, -k);
    expect([ring.first, ring.end, ring.length]).toEqual([2, 5, 3]);
    expect([ring.at(2, 0), ring.at(4, 1)]).toEqual([2, -4]);
  });

  test('robots that stand leave one place, robots that move leave more, obstacles none', () => {
    const traces = new Traces();
    traces.setRun(1, store.world);
    for (let stop = 0; stop < 10; stop++) {
      place(
        store,
        [
          [0, 0, 0],
          [stop, 0, 0],
          [stop, 3, 0],
        ],
        stop,
      );
      traces.addBodies(store.world!, store.frame!);
    }
    expect(traces.places.length).toBe(1 + 10);
  });

  test('a step back in time and a new run empty it', () => {
    const traces = new Traces();
    traces.setRun(1, store.world);
    const go = (stop: number): void => {
      place(
        store,
        [
          [stop, 0, 0],
          [0, 9, 0],
          [0, 5, 0],
        ],
        stop,
      );
      traces.addBodies(store.world!, store.frame!);
    };
    [1, 2, 3].forEach(go);
    expect(traces.places.length).toBe(4);
    go(2);
    expect(traces.places.length).toBe(2);
    traces.setRun(2, store.world);
    expect(traces.places.length).toBe(0);
  });

  test('arcs are kept where something was sensed, turned into the world', () => {
    const traces = new Traces();
    traces.setRun(1, store.world);
    [3, 1].forEach((radius, stop) => {
      place(
        store,
        [
          [2, 0, Math.PI / 2],
          [0, 9, 0],
          [0, 5, 0],
        ],
        stop,
      );
      const mark: Mark = {
        shape: 'arc',
        x: 1,
        y: 0,
        radius,
        from: 0,
        to: 0.5,
        part: 0,
        channel: 0,
        index: 0,
      };
      const head = { serial: stop, revision: 1, stop, time: stop };
      traces.addArcs(
        store.world!,
        { ...head, kind: 'marks', robots: [{ body: 0, marks: [mark] }] },
        store.frame!,
      );
    });
    // The first, as far as the sensor has ever shown, says that nothing was there.
    expect(traces.arcs.length).toBe(1);
    expect([0, 1, 2].map((column) => traces.arcs.at(0, column))).toEqual([2, 1, 1]);
  });
});
