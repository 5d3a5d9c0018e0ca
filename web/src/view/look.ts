/** What `window.__sim` tells about the view, besides where things are. */

import type { ViewHook } from '../hook';
import type { Mark } from '../frames';
import { placed } from './geometry';
import type { Flashes } from './contacts';
import type { MessageLayer } from './messages';
import { isShown } from './marks';
import { poseAt } from './pick';
import type { Traces } from './traces';
import type { View } from './view';

export function viewHook(view: View, traces: Traces, flashes: Flashes, messages: MessageLayer): ViewHook {
  const { store } = view;
  return {
    layers: () => ({ ...store.layers }),
    follow: () => store.follow,
    draws: () => view.draws,
    traces: () => ({ places: traces.places.length, arcs: traces.arcs.length, contacts: flashes.count }),
    toWorld: (clientX, clientY) => view.toWorld(clientX, clientY),
    objectAt: (clientX, clientY) => {
      const at = view.toWorld(clientX, clientY);
      return view.objectAt(at.x, at.y)?.id ?? null;
    },
    messages: () =>
      messages.shown().map(({ arrow, x, y }) => {
        const { serial, from, to, fate } = arrow;
        return { serial, from, to, fate, ...view.toScreen(x, y) };
      }),
    linkCount: () => messages.links().length,
    marks: () => {
      const { world, frame, marks } = store;
      if (!world || !frame || !marks) return [];
      return marks.robots.flatMap(({ body, marks: list }) =>
        list
          .filter((mark) => isShown(store, body, mark))
          .map((mark) => {
            const [x, y] = placed(poseAt(frame.rows, body), middleOf(mark));
            const part = world.types[world.bodies[body]?.type ?? -1]?.parts[mark.part];
            return {
              robot: world.bodies[body]?.path ?? '',
              part: part?.name ?? '',
              channel: part?.channels[mark.channel]?.name ?? '',
              index: mark.index,
              shape: mark.shape,
              ...view.toScreen(x, y),
            };
          }),
      );
    },
  };
}

/** A point on a mark, in its body's frame. */
function middleOf(mark: Mark): [number, number] {
  switch (mark.shape) {
    case 'line': {
      const a = mark.points[0] ?? [0, 0];
      const b = mark.points[1] ?? a;
      return [0.3 * a[0] + 0.7 * b[0], 0.3 * a[1] + 0.7 * b[1]];
    }
    case 'arc': {
      const angle = (mark.from + mark.to) / 2;
      return [mark.x + mark.radius * Math.cos(angle), mark.y + mark.radius * Math.sin(angle)];
    }
    default:
      return [mark.x, mark.y];
  }
}
