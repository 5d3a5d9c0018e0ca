/** The top view: draws the world when something has changed. */

import type { App } from '../app';
import { h } from '../dom';
import { installHook } from '../hook';
import { t } from '../strings';

export function mountCanvas(app: App): HTMLElement {
  const { store } = app;
  const canvas = h('canvas', { class: 'view', tabIndex: 0, aria: { label: t.canvas } });
  const draw = (): void => {
    const context = canvas.getContext('2d');
    if (!context || !store.world || !store.frame) return;
    canvas.width = canvas.clientWidth;
    canvas.height = canvas.clientHeight;
    const { x, y, scale } = store.camera;
    context.translate(canvas.width / 2, canvas.height / 2);
    context.scale(scale, -scale);
    context.translate(-x, -y);
    context.lineWidth = 1 / scale;
    for (const edge of store.world.drawing.edges) {
      context.beginPath();
      context.moveTo(...edge.a);
      context.lineTo(...edge.b);
      context.stroke();
    }
    for (const body of store.world.bodies) {
      const pose = store.poseOf(body.path);
      if (!pose) continue;
      context.beginPath();
      context.arc(pose.x, pose.y, 0.1, pose.heading, pose.heading + 2 * Math.PI);
      context.stroke();
    }
  };
  installHook(app, (x, y) => {
    const box = canvas.getBoundingClientRect();
    const { camera } = store;
    return {
      x: box.left + box.width / 2 + (x - camera.x) * camera.scale,
      y: box.top + box.height / 2 - (y - camera.y) * camera.scale,
    };
  });
  store.on(['frame', 'world', 'camera'], () => requestAnimationFrame(draw));
  return canvas;
}
