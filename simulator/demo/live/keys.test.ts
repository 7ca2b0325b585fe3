import { describe, expect, it } from 'vitest';
import { commandFor, keysIn, obey } from './keys.ts';
import { type LiveState, beginLive } from './state.ts';

const state: LiveState = beginLive(['alpha', 'bravo', 'twin'], 'twin');

describe('keys', () => {
  it.each<[input: string, keys: readonly string[]]>([
    ['c', ['c']],
    ['cr', ['c', 'r']],
    ['\u0003', ['ctrl-c']],
    ['\u0004', ['ctrl-d']],
    ['\t', ['tab']],
    ['\u001b', ['escape']],
    ['\u001b[A', ['up']],
    ['\u001b[B\u001b[Bq', ['down', 'down', 'q']],
    ['\u001bOA', ['up']],
    ['\u001b[Z', ['back-tab']],
    // A function key is one key, not four, of which one would cut a shoot off.
    ['\u001b[15~', ['\u001b[15~']],
    ['\u001b[1;5C', ['\u001b[1;5C']],
    ['äc😀', ['ä', 'c', '😀']],
    ['', []],
  ])('%j are %j', (input, keys) => {
    expect(keysIn(input)).toEqual(keys);
  });
});

describe('commands', () => {
  it.each([
    ['c', 'cut kubelets'],
    ['r', 'connect kubelets'],
    ['e', 'break etcd'],
    ['m', 'mend etcd'],
  ] as const)('%s does it to the picked shoot, and to the twin if that follows', (key, kind) => {
    const struck = (change: Partial<LiveState>): unknown => commandFor(key, { ...state, ...change });
    const acts = (...shoots: readonly string[]) => ({ kind: 'act', acts: shoots.map((shoot) => ({ kind, shoot })) });
    expect(struck({})).toEqual(acts('alpha', 'twin'));
    expect(struck({ picked: 'bravo' })).toEqual(acts('bravo', 'twin'));
    expect(struck({ twinFollows: false })).toEqual(acts('alpha'));
    expect(struck({ picked: 'twin' })).toEqual(acts('twin'));
    expect(struck({ picked: 'twin', twinFollows: false })).toEqual(acts('twin'));
  });

  it.each([
    ['2', 'alpha', 'bravo'],
    ['down', 'alpha', 'bravo'],
    ['tab', 'twin', 'alpha'],
    ['up', 'alpha', 'twin'],
    ['back-tab', 'bravo', 'alpha'],
  ])('%s picks: from %s to %s', (key, picked, next) => {
    expect(commandFor(key, { ...state, picked })).toEqual({ kind: 'pick', shoot: next });
  });

  it.each(['0', '4', '9', 'x', 'C', ' ', '\r', '\u001b[15~', 'ä', 'toString'])('%j means nothing', (key) => {
    expect(commandFor(key, state)).toBeUndefined();
  });

  it.each(['q', 'ctrl-c', 'ctrl-d'])('%s quits, on every page', (key) => {
    expect(commandFor(key, state)).toEqual({ kind: 'quit' });
    expect(commandFor(key, { ...state, page: 'help' })).toEqual({ kind: 'quit' });
  });

  it('turn pages, pick, and let the twin go', () => {
    const after = (...keys: readonly string[]): LiveState =>
      keys.reduce((now, key) => {
        const command = commandFor(key, now);
        return command === undefined ? now : obey(now, command);
      }, state);
    expect(after('?').page).toBe('help');
    expect(after('?', 'h').page).toBe('shoots');
    expect(after('?', 'escape').page).toBe('shoots');
    expect(after('escape').page).toBe('shoots');
    expect(after('t').twinFollows).toBe(false);
    expect(after('t', 't')).toEqual(state);
    expect(after('2').picked).toBe('bravo');
    expect(after('c', 'q')).toEqual(state);
  });
});
