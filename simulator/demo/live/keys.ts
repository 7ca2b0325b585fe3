import type { Act } from '../acts.ts';
import type { LiveState } from './state.ts';

/** What a key means. */
export type Command =
  | { readonly kind: 'pick'; readonly shoot: string }
  | { readonly kind: 'act'; readonly acts: readonly Act[] }
  | { readonly kind: 'twin'; readonly follows: boolean }
  | { readonly kind: 'page'; readonly page: LiveState['page'] }
  | { readonly kind: 'quit' };

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

/** A control sequence, or any one character. */
const keyPattern = /\u001b(?:\[[\d;]*[@-~]|O[@-~])|[^]/gu;

/**
 * Keys in what a terminal in raw mode sends at once: letters and digits as themselves, others by name, the rest as it came. Sequences as
 * in https://invisible-island.net/xterm/ctlseqs/ctlseqs.html ("PC-Style Function Keys").
 */
export const keysIn = (input: string): readonly string[] =>
  (input.match(keyPattern) ?? []).map((key) => names.get(key) ?? key);

const acts: ReadonlyMap<string, Act['kind']> = new Map([
  ['c', 'cut kubelets'],
  ['r', 'connect kubelets'],
  ['e', 'break etcd'],
  ['m', 'mend etcd'],
]);

const step = ({ shoots, picked }: LiveState, by: number): Command => {
  const next = (shoots.indexOf(picked) + by + shoots.length) % shoots.length;
  return { kind: 'pick', shoot: shoots[next] ?? picked };
};

/** Undefined for a key without a meaning. */
export const commandFor = (key: string, state: LiveState): Command | undefined => {
  const { shoots, picked, twin, twinFollows, page } = state;
  const act = acts.get(key);
  if (act !== undefined) {
    const struck = twinFollows && picked !== twin ? [picked, twin] : [picked];
    return { kind: 'act', acts: struck.map((shoot) => ({ kind: act, shoot })) };
  }
  const shoot = /^[1-9]$/.test(key) ? shoots[Number(key) - 1] : undefined;
  if (shoot !== undefined) return { kind: 'pick', shoot };
  switch (key) {
    case 'up':
    case 'back-tab':
      return step(state, -1);
    case 'down':
    case 'tab':
      return step(state, 1);
    case 't':
      return { kind: 'twin', follows: !twinFollows };
    case '?':
    case 'h':
      return { kind: 'page', page: page === 'help' ? 'shoots' : 'help' };
    case 'escape':
      return { kind: 'page', page: 'shoots' };
    case 'q':
    case 'ctrl-c':
    case 'ctrl-d':
      return { kind: 'quit' };
    default:
      return undefined;
  }
};

/** What a command changes on the screen at once; what acts do is seen in the world. */
export const obey = (state: LiveState, command: Command): LiveState => {
  switch (command.kind) {
    case 'pick':
      return { ...state, picked: command.shoot };
    case 'twin':
      return { ...state, twinFollows: command.follows };
    case 'page':
      return { ...state, page: command.page };
    case 'act':
    case 'quit':
      return state;
  }
};
