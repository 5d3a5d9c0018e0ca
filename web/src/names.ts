/** How things are named for people. Pure. */

/** The last piece of a path: `/robots/r1` is `r1`. */
export function shortName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1) || path;
}
