import { formatAge } from '../../kubernetes/api/duration.ts';
import { type Row, type Segment, type Tone, segment } from './row.ts';
import type { ShootState } from '../../status/state/schema.ts';
import { type ShootSnapshot, type StatusSnapshot, isHeld, leaseAges } from './snapshot.ts';

export const stateTones: Readonly<Record<ShootState, Tone>> = {
  'losing nodes': 'bad',
  blind: 'bad',
  'not protected': 'bad',
  healthy: 'good',
  confirming: 'bad',
  held: 'strong',
  landing: 'strong',
  restoring: 'plain',
  flapping: 'bad',
  paused: 'dim',
  'not probed': 'dim',
};

const headings = ['SHOOT', 'STATE', 'LEASES', 'SINCE', 'HELD', 'NEXT'];

/** Shortens `kube-controller-manager` to `kcm`. */
const initials = (name: string): string =>
  name
    .split('-')
    .map((word) => word.slice(0, 1))
    .join('');

const heldIn = ({ components }: ShootSnapshot): string =>
  components
    .filter(isHeld)
    .map(({ name, stored = '?' }) => `${initials(name)} ${stored}`)
    .join(', ');

/** Draws the state, and marks a shoot that is less protected than its state suggests. */
const stateCell = (shoot: ShootSnapshot): Segment => {
  const { state, isUnmet = false, ignored = [], components } = shoot;
  const isKeptOff = ignored.length > 0 && state !== 'blind' && !components.some(isHeld);
  const word = isKeptOff ? 'NOT PROTECTED' : state === 'healthy' ? state : state.toUpperCase();
  return segment(`${isUnmet ? '! ' : ''}${word}`, isUnmet || isKeptOff ? 'bad' : stateTones[state]);
};

/** Returns one cell per heading. */
const cellsOf = (shoot: ShootSnapshot, { at, leaseExpiryMs }: StatusSnapshot): Row => {
  const { name, since, next = '-' } = shoot;
  const ages = leaseAges(shoot, at);
  const seen = { expired: ages.filter((age) => age >= leaseExpiryMs).length, candidates: ages.length };
  const { expired, candidates } = shoot.counts ?? seen;
  const held = heldIn(shoot);
  return [
    segment(name),
    stateCell(shoot),
    candidates === 0
      ? segment('-')
      : segment(`${String(expired)}/${String(candidates)} expired`, expired > 0 ? 'bad' : 'plain'),
    segment(since === undefined ? '-' : formatAge(at - since)),
    segment(held === '' ? '-' : held, held === '' ? 'plain' : 'strong'),
    segment(next),
  ];
};

/** Returns `size` items, including the one at `index`. */
const windowOf = <T>(items: readonly T[], index: number, size: number): readonly T[] => {
  const from = Math.max(0, Math.min(index - Math.floor(size / 2), items.length - size));
  return items.slice(from, from + size);
};

/** Returns a heading and a row for each shoot. If there are more than `most` shoots, only those around the selected one are listed. */
export const tableRows = (snapshot: StatusSnapshot, selected: string, most: number): readonly Row[] => {
  const { shoots } = snapshot;
  const place = Math.max(
    0,
    shoots.findIndex(({ name }) => name === selected),
  );
  const numbered = shoots.map((shoot, index) => ({ shoot, number: index + 1 }));
  const shown = windowOf(numbered, place, most).map(({ shoot, number }) => ({
    mark: segment(`${shoot.name === selected ? '>' : ' '} ${String(number)} `, 'strong'),
    cells: cellsOf(shoot, snapshot),
  }));
  const widths = headings.map(
    (heading, column) => 2 + Math.max(heading.length, ...shown.map(({ cells }) => cells[column]?.text.length ?? 0)),
  );
  const aligned = (cells: readonly Segment[]): Row =>
    cells.map(({ text, tone }, column) => ({ text: text.padEnd(widths[column] ?? 0), tone }));
  const margin = Math.max(4, ...shown.map(({ mark }) => mark.text.length));
  const fill = ({ text, tone }: Segment): Segment => ({ text: text.padEnd(margin), tone });
  return [
    [segment(' '.repeat(margin)), ...aligned(headings.map((heading) => segment(heading, 'dim')))],
    ...shown.map(({ mark, cells }) => [fill(mark), ...aligned(cells)]),
  ];
};
