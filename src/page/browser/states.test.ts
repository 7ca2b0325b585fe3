import { describe, expect, it } from 'vitest';
import { shootNamed } from '../../../test/doubles/probed-shoots.ts';
import type { ShootStatus } from '../../status/state/schema.ts';
import { commandsFor, splitDo } from './commands.ts';
import { byProject, countOf, counters, lookOf, matches } from './states.ts';

const all = [
  shootNamed('b'),
  shootNamed('c', 'held'),
  shootNamed('a'),
  shootNamed('d', 'paused'),
  shootNamed('e', 'restoring'),
];
const names = (shoots: readonly { readonly name: string }[]): string => shoots.map(({ name }) => name).join('');

describe('shoots', () => {
  it('are counted by urgency, each once', () => {
    expect(counters.map((one) => [one, countOf(one, all)])).toEqual([
      ['losing nodes', 0],
      ['blind', 0],
      ['not protected', 0],
      ['paused', 1],
      ['held', 1],
      ['landing', 1],
      ['confirming', 0],
      ['healthy', 2],
      ['not probed', 0],
    ]);
  });

  it.each([
    ['', 'bcade'],
    ['DEV/C', 'c'],
    ['shoot--dev--a', 'a'],
    ['cluster-autoscaler', 'c'],
    ['12/12', 'c'],
    ['nothing', ''],
  ])('are found by %j: %s', (text, found) => {
    expect(names(all.filter((shoot) => matches(shoot, { text })))).toBe(found);
  });

  it('are filtered by a counter', () => {
    const found = all.filter((shoot) => matches(shoot, { text: '', counter: 'landing' }));
    expect(names(found)).toBe('e');
  });

  it('are shown by project, in the order of their names', () => {
    const shoots = [
      ...all,
      shootNamed('z', 'healthy', { project: 'core' }),
      shootNamed('y', 'healthy', { project: undefined }),
    ];
    expect([...byProject(shoots)].map(([project, those]) => [project, names(those)])).toEqual([
      ['core', 'z'],
      ['dev', 'abcde'],
      ['', 'y'],
    ]);
  });
});

describe('the title and the icon', () => {
  it.each<readonly [title: string, icon: string, states: readonly ShootStatus['state'][]]>([
    ['eu10', 'calm', ['healthy', 'not probed']],
    ['(2) eu10', 'eyes', ['healthy', 'held', 'confirming']],
    ['(1!) eu10', 'eyes', ['held', 'blind']],
    ['(2!) eu10', 'alarm', ['losing nodes', 'held', 'not protected']],
    ['eu10', 'calm', []],
  ])('are %s and %s for %j', (title, icon, states) => {
    const shoots = states.map((state, index) => shootNamed(`s${String(index)}`, state, { held: [] }));
    expect(lookOf('eu10', shoots)).toMatchObject({ title, icon });
  });
});

describe('commands', () => {
  const linesFor = (...shoot: Parameters<typeof shootNamed>): readonly string[] =>
    commandsFor(shootNamed(...shoot)).map(({ line }) => line.replaceAll('shoot--dev--x', 'X'));

  it('are those for this state only', () => {
    expect(linesFor('x')).toEqual(['dwd explain X', "dwd pause --shoot X --for 1h --reason 'WHY'"]);
    expect(linesFor('x', 'paused')).toEqual(['dwd explain X']);
    expect(linesFor('x', 'landing')).toEqual(['dwd explain X', 'dwd release --shoot X']);
    const failing = {
      since: '2026-01-01T00:00:00Z',
      runs: 3,
      read: 'leases',
      reason: '401',
      kind: 'credentials',
    } as const;
    const access = { secret: 'X/dwd', key: 'kubeconfig' };
    expect(linesFor('x', 'blind', { failing, access })).toEqual(['dwd explain X', 'kubectl -n X get pods']);
    const { held } = shootNamed('x', 'held');
    expect(linesFor('x', 'blind', { held })).toEqual([
      'dwd explain X',
      'kubectl -n X get pods',
      'dwd release --shoot X',
    ]);
  });

  it('name a shoot as one word of a shell', () => {
    expect(linesFor('x', 'held', { namespace: `$(reboot)'; x` })[0]).toBe(String.raw`dwd explain '$(reboot)'\''; x'`);
  });

  it.each([
    ['to restore them: dwd release --shoot X', [['to restore them:', 'dwd release --shoot X']]],
    ['dwd resume --all', [['', 'dwd resume --all']]],
    [
      'renew the Secret X/dwd-prober; nothing is restored before',
      [['renew the Secret X/dwd-prober'], ['nothing is restored before']],
    ],
    [
      'to end that: kubectl -n X annotate a/b c-; to end the pause: dwd resume --shoot X',
      [
        ['to end that:', 'kubectl -n X annotate a/b c-'],
        ['to end the pause:', 'dwd resume --shoot X'],
      ],
    ],
  ])('are told apart from the words around them: %s', (what, steps) => {
    expect(splitDo(what)).toEqual(steps.map(([words, line]) => ({ words, line })));
  });
});
