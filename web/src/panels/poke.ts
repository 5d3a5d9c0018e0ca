/** Asks for the new value of a register and writes it. */

import type { App } from '../app';
import { openDialog } from '../dialog';
import { h } from '../dom';
import { shortName } from '../names';
import { t } from '../strings';
import type { RegisterRow } from './inspected';
import { hex } from './numbers';

export function openPoke(app: App, robot: string, row: RegisterRow): void {
  const largest = 2 ** (8 * row.bytes) - 1;
  const input = h('input', {
    type: 'text',
    name: 'raw',
    value: String(row.raw ?? 0),
    autocomplete: 'off',
    required: true,
  });
  const wrong = h('p', { class: 'wrong', role: 'alert' });
  const form = h(
    'form',
    { class: 'panel-form' },
    h('p', {}, t.pokeAbout(hex(row.address, 4), shortName(robot), largest)),
    h('label', {}, h('span', {}, t.rawValue), input),
    wrong,
    h('footer', {}, h('button', { type: 'submit', class: 'primary' }, t.write)),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const value = Number(input.value.trim() || NaN);
    if (!Number.isInteger(value) || value < 0 || value > largest) {
      wrong.textContent = t.pokeRange(largest);
      input.setAttribute('aria-invalid', 'true');
      return;
    }
    void app
      .do('poke', { robot, address: row.address, bytes: row.bytes, value })
      .then((ok) => ok && dialog.close());
  });
  const dialog = openDialog(t.poke(row.name), { class: 'small', test: 'poke' }, form);
  input.select();
}
