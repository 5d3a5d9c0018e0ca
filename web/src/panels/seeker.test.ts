import { expect, test } from 'vitest';
import { Seeker } from './seeker';

test('only one seek is under way, and of the wishes meanwhile only the last is sent', async () => {
  const sent: number[] = [];
  const answers: (() => void)[] = [];
  const seeker = new Seeker((stop) => {
    sent.push(stop);
    return new Promise((resolve) => answers.push(() => resolve({})));
  });
  const first = seeker.seek(1);
  void seeker.seek(2);
  void seeker.seek(3);
  expect(sent).toEqual([1]);
  expect(seeker.wanted).toBe(3);
  answers[0]?.();
  await Promise.resolve();
  await Promise.resolve();
  expect(sent).toEqual([1, 3]);
  answers[1]?.();
  await first;
  expect(seeker.wanted).toBe(3);
  seeker.told();
  expect(seeker.wanted).toBeNull();
});
test('a seek that was refused is wanted no longer', async () => {
  const seeker = new Seeker(() => Promise.resolve(null));
  await seeker.seek(5);
  expect(seeker.wanted).toBeNull();
});
