import { describe, expect, it } from 'vitest';
import { type Choice, keysIn, press } from './keys.ts';

const choice: Choice = { shoots: ['alpha', 'bravo', 'twin'], twin: 'twin', selected: 'alpha', twinFollows: true };

describe('keys', () => {
  it.each<[input: string, keys: readonly string[]]>([
    ['c', ['c']],
    ['cr', ['c', 'r']],
    ['\u0003', ['ctrl-c']],
    ['\u0004', ['ctrl-d']],
    ['\t', ['tab']],
    ['\u001b', ['\u001b']],
    ['\u001b[A', ['up']],
    ['\u001b[B\u001b[Bq', ['down', 'down', 'q']],
    ['\u001bOA', ['up']],
    ['\u001b[Z', ['back-tab']],
    // A function key is one key: its digits do not select shoots.
    ['\u001b[15~', ['\u001b[15~']],
    ['\u001b[1;5C', ['\u001b[1;5C']],
    ['äc😀', ['ä', 'c', '😀']],
    ['', []],
  ])('%j are %j', (input, keys) => {
    expect(keysIn(input)).toEqual(keys);
  });
});

describe('a key', () => {
  it.each([
    ['c', 'cut kubelets'],
    ['r', 'connect kubelets'],
    ['e', 'break etcd'],
    ['m', 'mend etcd'],
  ] as const)('%s injects %s into the selected shoot, and into the twin if the twin follows', (key, kind) => {
    const faultsOf = (change: Partial<Choice>): unknown => press(key, { ...choice, ...change }).faults;
    const faults = (...shoots: readonly string[]) => shoots.map((shoot) => ({ kind, shoot }));
    expect(faultsOf({})).toEqual(faults('alpha', 'twin'));
    expect(faultsOf({ selected: 'bravo' })).toEqual(faults('bravo', 'twin'));
    expect(faultsOf({ twinFollows: false })).toEqual(faults('alpha'));
    expect(faultsOf({ selected: 'twin' })).toEqual(faults('twin'));
    expect(faultsOf({ selected: 'twin', twinFollows: false })).toEqual(faults('twin'));
  });

  it.each<[key: string, before: Partial<Choice>, after: Partial<Choice>]>([
    ['2', {}, { selected: 'bravo' }],
    ['down', {}, { selected: 'bravo' }],
    ['tab', { selected: 'twin' }, { selected: 'alpha' }],
    ['up', {}, { selected: 'twin' }],
    ['back-tab', { selected: 'bravo' }, { selected: 'alpha' }],
    ['?', {}, {}],
    ['t', {}, { twinFollows: false }],
    ['t', { twinFollows: false }, { twinFollows: true }],
    ...['0', '4', '9', 'x', 'C', ' ', '\r', '\u001b[15~', 'ä', 'toString'].map(
      (key): [string, Partial<Choice>, Partial<Choice>] => [key, {}, {}],
    ),
  ])('%j turns %j into %j', (key, before, after) => {
    expect(press(key, { ...choice, ...before }).choice).toEqual({ ...choice, ...before, ...after });
  });

  it.each(['q', 'ctrl-c', 'ctrl-d'])('%s quits', (key) => {
    expect(press(key, choice).quits).toBe(true);
  });

  it.each([
    ['2', 'the next fault hits bravo and twin'],
    ['3', 'the next fault hits twin'],
    ['t', 'the next fault hits alpha'],
    ['c', undefined],
  ])('%s says: %s', (key, says) => {
    expect(press(key, choice).says).toBe(says);
  });
});
