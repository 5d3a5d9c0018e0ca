/** Hands a file made here to the person. */

import { h } from './dom';

export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  h('a', { href: url, download: name }).click();
  // The browser has taken it by then; the address would keep the bytes in memory.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
