/** Words of the top view and the 3-D view. */
export const view = {
  canvas: 'World, seen from above',
};
