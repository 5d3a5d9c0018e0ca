/** What a person prefers, as far as the view cares: it is written on the page's root element, whoever sets it. */

/** What a plain turn of the wheel means: on a trackpad it moves the picture, with a mouse it zooms. */
export function isTrackpad(): boolean {
  return document.documentElement.dataset['pointing'] === 'trackpad';
}

/** Whether nothing should move by itself. */
export function isCalm(): boolean {
  const { motion } = document.documentElement.dataset;
  return motion === 'reduced' || matchMedia('(prefers-reduced-motion: reduce)').matches;
}
