/**
 * Camera and layers in the address after `#`, so that a copied address shows the same picture:
 * `cam=x,y,scale`, `layers=…` (the ones that are on), `view=3d`. Other words there are left alone.
 */

import { LAYERS, type Camera, type Layers, type Store } from '../store';
import { clampScale } from './camera';

const SWITCHES = [
  'sensors',
  'rays',
  'beacons',
  'arcs',
  'grid',
  'contacts',
  'shapes',
  'ids',
  'links',
  'messages',
  'regions',
] as const;
const REST_MS = 150;

export function layersText(layers: Layers): string {
  const on: string[] = SWITCHES.filter((name) => layers[name]);
  if (layers.trails !== 'none') on.push(layers.trails);
  return on.join(',');
}

/** Layers from the words of an address; words nobody knows are left out. */
export function layersFrom(text: string): Layers {
  const words = text.split(',');
  const layers: Layers = { ...LAYERS, trails: 'none' };
  for (const name of SWITCHES) layers[name] = words.includes(name);
  if (words.includes('dots')) layers.trails = 'dots';
  if (words.includes('outline')) layers.trails = 'outline';
  return layers;
}

export function cameraText({ x, y, scale }: Camera): string {
  const tidy = (n: number, digits: number): string => String(Number(n.toFixed(digits)));
  return [tidy(x, 4), tidy(y, 4), tidy(scale, 3)].join(',');
}

export function cameraFrom(text: string): Camera | null {
  const [x, y, scale, ...more] = text.split(',').map(Number);
  if (x === undefined || y === undefined || scale === undefined || more.length > 0) return null;
  if (![x, y, scale].every(Number.isFinite) || scale <= 0) return null;
  return { x, y, scale: clampScale(scale) };
}

/** Takes camera, layers and view from the address; answers whether it named a camera. */
export function readAddress(store: Store): boolean {
  const words = new URLSearchParams(location.hash.slice(1));
  const layers = words.get('layers');
  if (layers !== null) store.setLayers(layersFrom(layers));
  store.view = words.get('view') === '3d' ? '3d' : '2d';
  const camera = cameraFrom(words.get('cam') ?? '');
  if (camera) store.setCamera(camera);
  return camera !== null;
}

/** Keeps the address up to date, not more often than browsers like. `hasCamera` says whether the camera was chosen. */
export function keepAddress(store: Store, hasCamera: () => boolean): void {
  let timer = 0;
  const write = (): void => {
    timer = 0;
    const words = new URLSearchParams(location.hash.slice(1));
    if (hasCamera()) words.set('cam', cameraText(store.camera));
    else words.delete('cam');
    const layers = layersText(store.layers);
    if (layers === layersText(LAYERS)) words.delete('layers');
    else words.set('layers', layers);
    if (store.view === '3d') words.set('view', '3d');
    else words.delete('view');
    // Commas need no escaping there, and people read this.
    const hash = words.toString().replaceAll('%2C', ',');
    if (hash !== location.hash.slice(1))
      history.replaceState(history.state, '', hash ? `#${hash}` : location.pathname + location.search);
  };
  store.on(['camera', 'layers', 'view'], () => {
    if (timer === 0) timer = window.setTimeout(write, REST_MS);
  });
}
