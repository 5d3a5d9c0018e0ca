/** Finds commands by a few letters. Pure. */

/** How well `query` fits `text`: greater is better, `null` is not at all. Letters must come in order. */
export function score(query: string, text: string): number | null {
  const [wanted, given] = [query.toLowerCase().replaceAll(' ', ''), text.toLowerCase()];
  let [at, points, run] = [0, 0, 0];
  for (const letter of wanted) {
    const found = given.indexOf(letter, at);
    if (found < 0) return null;
    const starts = found === 0 || /[^a-z0-9]/.test(given[found - 1] ?? '');
    run = found === at && at > 0 ? run + 1 : 0;
    points += 1 + 3 * run + (starts ? 3 : 0) - Math.min(3, (found - at) / 2);
    at = found + 1;
  }
  if (given.includes(query.toLowerCase())) points += 10;
  return points - given.length / 10;
}

/** Those that fit, best first; all, in their order, when nothing is asked. */
export function search<T>(query: string, list: readonly T[], words: (item: T) => string): T[] {
  if (!query.trim()) return [...list];
  return list
    .flatMap((item) => {
      const points = score(query, words(item));
      return points === null ? [] : [{ item, points }];
    })
    .sort((a, b) => b.points - a.points)
    .map(({ item }) => item);
}
