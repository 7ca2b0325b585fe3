import type { DemoFault } from './stage.ts';

/** The shoots of the demo, and which of them the next fault hits. */
export interface Choice {
  /** Names of the shoots, in the order of their digit keys. */
  readonly shoots: readonly string[];
  /** Name of the shoot that no watchdog protects. */
  readonly twin: string;
  readonly selected: string;
  /** True if faults of the selected shoot are injected into the twin as well. */
  readonly twinFollows: boolean;
}

/** Effects of a key. `choice` applies at once. */
export interface Pressed {
  readonly choice: Choice;
  /** Faults to inject. */
  readonly faults?: readonly DemoFault[];
  /** A sentence about the new choice. */
  readonly says?: string;
  readonly shows?: 'help';
  readonly quits?: true;
}

/** Describes the keys. */
export const helpLine = ({ shoots, selected }: Choice): string =>
  `keys: 1-${String(shoots.length)} pick (${selected})  c cut  r restore  e kill etcd  m mend  t twin  ? help  q quit`;

const escape = '\u001b';

const names: ReadonlyMap<string, string> = new Map([
  ['\u0003', 'ctrl-c'],
  ['\u0004', 'ctrl-d'],
  ['\t', 'tab'],
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

type Binding = (choice: Choice) => Pressed;

const quit: Binding = (choice) => ({ choice, quits: true });
const help: Binding = (choice) => ({ choice, shows: 'help' });

const select = (choice: Choice, selected: string): Pressed => ({
  choice: { ...choice, selected },
  says: `the next fault hits ${selected}${choice.twinFollows && selected !== choice.twin ? ` and ${choice.twin}` : ''}`,
});

const selectNext =
  (by: number): Binding =>
  (choice) => {
    const { shoots, selected } = choice;
    return select(choice, shoots[(shoots.indexOf(selected) + by + shoots.length) % shoots.length] ?? selected);
  };

const turnTwin: Binding = (choice) => select({ ...choice, twinFollows: !choice.twinFollows }, choice.selected);

const inject =
  (kind: DemoFault['kind']): Binding =>
  (choice) => {
    const { selected, twin, twinFollows } = choice;
    const affected = twinFollows && selected !== twin ? [selected, twin] : [selected];
    return { choice, faults: affected.map((shoot) => ({ kind, shoot })) };
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
  ['t', turnTwin],
  ['?', help],
  ['h', help],
  ['q', quit],
  ['ctrl-c', quit],
  ['ctrl-d', quit],
]);

/** Applies a key. A digit selects a shoot; an unknown key changes nothing. */
export const press = (key: string, choice: Choice): Pressed => {
  const selected = /^[1-9]$/.test(key) ? choice.shoots[Number(key) - 1] : undefined;
  return selected === undefined ? (bindings.get(key)?.(choice) ?? { choice }) : select(choice, selected);
};
