import { expect, test } from 'vitest';
import { readSheets } from './sheets';

test('what a sheet leaves out has its place, and defaults are texts', () => {
  const params = [
    { name: 'mount', kind: 'pose', default: [0, 0, 0], summary: '' },
    { name: 'on', kind: 'bool', default: true, summary: '' },
    {
      name: 'range',
      kind: 'number',
      unit: 'm',
      min: 0.1,
      range: 'at least 0.1',
      required: true,
      default: null,
      summary: '',
    },
  ];
  const read = readSheets([{ class: 'x', kind: 'sensor', params }]).get('x');
  expect(read?.params.map((p) => p.default)).toEqual(['[0, 0, 0]', 'true', null]);
  expect(read?.params[0]).toMatchObject({ unit: '', choices: [], required: false, max: null });
  expect(read?.params[2]).toMatchObject({ unit: 'm', min: 0.1, required: true });
});
