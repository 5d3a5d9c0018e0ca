/** Draws a wall, a track or a polygon point by point: clicks, then Enter or a double click. */

import type { App } from '../app';
import type { Point } from '../protocol';
import { t } from '../strings';
import { styleColour } from '../view/ink';
import { viewOf } from '../view/view';
import { editsOf } from './edits';
import { polyline } from './kinds';
import { enter, leave } from './modes';
import { snapped } from './place';
import { nameOf, whyNotEdit } from './subject';

export function startDrawing(app: App, kind: 'wall' | 'track' | 'polygon'): void {
  const why = whyNotEdit(app.store);
  if (why) {
    app.toast(why, 'error');
    return;
  }
  const view = viewOf(app);
  const least = kind === 'polygon' ? 3 : 2;
  const points: Point[] = [];
  let pointer: Point | null = null;
  const show = (): void => {
    document.body.dataset['points'] = String(points.length);
    view.requestDraw();
  };
  const finish = (): void => {
    if (points.length < least) {
      app.toast(t.morePoints(least), 'error');
      return;
    }
    leave(app);
    void editsOf(app)
      .change(t.stepAdd(kind), [polyline(kind, points)], 'made')
      .then((done) => {
        const [first] = done?.paths ?? [];
        if (first !== undefined) app.announce(t.saidDrawn(nameOf(app.store, first), points.length));
      });
  };
  enter(app, {
    name: `draw-${kind}`,
    hint: t.drawing(t.kinds[kind] ?? kind),
    pointer: (event) => {
      if (event.type === 'contextmenu') return true;
      if (event.type === 'dblclick') {
        finish();
        return true;
      }
      const { x, y } = view.toWorld(event.clientX, event.clientY);
      pointer = snapped(app, [x, y], event.ctrlKey);
      if (event.type === 'pointerdown' && event.button === 0 && !isLast(points, pointer))
        points.push(pointer);
      show();
      return event.type !== 'pointermove';
    },
    key: (event) => {
      if (event.key === 'Enter') finish();
      else if (event.key === 'Escape') leave(app);
      else if (event.key === 'Backspace') points.pop();
      else return false;
      show();
      return true;
    },
    draw: (context) => {
      const all = pointer ? [...points, pointer] : points;
      context.save();
      context.strokeStyle = context.fillStyle = styleColour('--accent');
      context.lineWidth = 2;
      context.beginPath();
      all.forEach(([x, y], k) => {
        const p = view.toCanvas(x, y);
        if (k === 0) context.moveTo(p.x, p.y);
        else context.lineTo(p.x, p.y);
      });
      if (kind === 'polygon' && all.length > 2) context.closePath();
      context.stroke();
      for (const [x, y] of points) {
        const p = view.toCanvas(x, y);
        context.beginPath();
        context.arc(p.x, p.y, 4, 0, 2 * Math.PI);
        context.fill();
      }
      context.restore();
    },
    end: () => delete document.body.dataset['points'],
  });
  show();
}

/** The second press of a double click is no point of its own. */
function isLast(points: readonly Point[], p: Point): boolean {
  const last = points[points.length - 1];
  return last !== undefined && Math.hypot(last[0] - p[0], last[1] - p[1]) < 1e-9;
}
