/** Small helpers of the 3-D view. */

import * as THREE from 'three';
import type { Point } from '../protocol';

/** Gives back everything below an object, and empties it. */
export function disposeAll(root: THREE.Object3D): void {
  root.traverse((object) => {
    if (!(object instanceof THREE.Mesh || object instanceof THREE.LineSegments)) return;
    (object.geometry as THREE.BufferGeometry).dispose();
    const materials = (
      Array.isArray(object.material) ? object.material : [object.material]
    ) as THREE.Material[];
    for (const material of materials) material.dispose();
    if (object instanceof THREE.InstancedMesh) object.dispose();
  });
  root.clear();
}

/** A polygon that stands up from the floor. */
export function prism(points: readonly Point[], height: number): THREE.BufferGeometry {
  const shape = new THREE.Shape(points.map(([x, y]) => new THREE.Vector2(x, y)));
  return new THREE.ExtrudeGeometry(shape, { depth: height, bevelEnabled: false, steps: 1 });
}

/** A colour of the style sheet; what is see-through there is solid here. */
export function colour(text: string): THREE.Color {
  return new THREE.Color().setStyle(text, THREE.SRGBColorSpace);
}
