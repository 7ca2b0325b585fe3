import type { DemoFault } from './faults.ts';
import type { LiveState } from './live-state.ts';

/** Effects of a key. `state` is the new state of the screen, which applies at once. */
export interface Pressed {
  readonly state: LiveState;
  /** Faults to inject. */
  readonly faults?: readonly DemoFault[];
  readonly quits?: true;
}

const escape = '\u001b';

const names: ReadonlyMap<string, string> = new Map([
  ['\u0003', 'ctrl-c'],
  ['\u0004', 'ctrl-d'],
  ['\t', 'tab'],
  [escape, 'escape'],
  [`${escape}[A`, 'up'],
  [`${escape}[B`, 'down'],
  [`${escape}OA`, 'up'],
  [`${escape}OB`, 'down'],
  [`${escape}[Z`, 'back-tab'],
]);

/** Matches a control sequence or a single character. */
const keyPattern = /\u001b(?:\[[\d;]*[@-~]|O[@-~])|[^]/gu;

/**
 * Splits the input of a terminal in raw mode into keys: letters and digits as themselves, other known keys by name, the rest unchanged.
 * Source of the sequences: https://invisible-island.net/xterm/ctlseqs/ctlseqs.html ("PC-Style Function Keys").
 */
export const keysIn = (input: string): readonly string[] =>
  (input.match(keyPattern) ?? []).map((key) => names.get(key) ?? key);

type Binding = (state: LiveState) => Pressed;

const quit: Binding = (state) => ({ state, quits: true });
const turnPage: Binding = (state) => ({ state: { ...state, page: state.page === 'help' ? 'shoots' : 'help' } });

const selectNext =
  (by: number): Binding =>
  (state) => {
    const { shoots, selected } = state;
    const next = shoots[(shoots.indexOf(selected) + by + shoots.length) % shoots.length] ?? selected;
    return { state: { ...state, selected: next } };
  };

const inject =
  (kind: DemoFault['kind']): Binding =>
  (state) => {
    const { selected, twin, twinFollows } = state;
    const affected = twinFollows && selected !== twin ? [selected, twin] : [selected];
    return { state, faults: affected.map((shoot) => ({ kind, shoot })) };
  };

const bindings: ReadonlyMap<string, Binding> = new Map([
  ['c', inject('cut kubelets')],
  ['r', inject('connect kubelets')],
  ['e', inject('break etcd')],
  ['m', inject('mend etcd')],
  ['up', selectNext(-1)],
  ['back-tab', selectNext(-1)],
  ['down', selectNext(1)],
  ['tab', selectNext(1)],
  ['t', (state) => ({ state: { ...state, twinFollows: !state.twinFollows } })],
  ['?', turnPage],
  ['h', turnPage],
  ['escape', (state) => ({ state: { ...state, page: 'shoots' } })],
  ['q', quit],
  ['ctrl-c', quit],
  ['ctrl-d', quit],
]);

/** Applies a key. A digit selects a shoot; an unknown key changes nothing. */
export const press = (key: string, state: LiveState): Pressed => {
  const selected = /^[1-9]$/.test(key) ? state.shoots[Number(key) - 1] : undefined;
  if (selected !== undefined) return { state: { ...state, selected } };
  return bindings.get(key)?.(state) ?? { state };
};
