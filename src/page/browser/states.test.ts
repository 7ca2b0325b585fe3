import { describe, expect, it } from 'vitest';
import { shootNamed } from '../../../test/doubles/probed-shoots.ts';
import { commandsFor } from './commands.ts';
import { countByState, heldOf, matches, sorted } from './states.ts';
import { duration, since } from './times.ts';

const all = [shootNamed('b'), shootNamed('c', 'held'), shootNamed('a'), shootNamed('d', 'paused')];
const names = (shoots: readonly { readonly name: string }[]): string => shoots.map(({ name }) => name).join('');

describe('shoots', () => {
  it('are sorted by state, the worst first, then by name', () => {
    expect(names(sorted(all))).toBe('dcab');
  });

  it('are counted by state', () => {
    expect([...countByState(all)]).toEqual([
      ['healthy', 2],
      ['held', 1],
      ['paused', 1],
    ]);
  });

  it.each([
    ['', 'bcad'],
    ['DEV/C', 'c'],
    ['shoot--dev--a', 'a'],
    ['cluster-autoscaler', 'c'],
    ['12/12', 'c'],
    ['nothing', ''],
  ])('are found by %j: %s', (text, found) => {
    expect(names(all.filter((shoot) => matches(shoot, { text, states: new Set() })))).toBe(found);
  });

  it('are filtered by states', () => {
    const states = new Set(['paused', 'held'] as const);
    expect(names(all.filter((shoot) => matches(shoot, { text: '', states })))).toBe('cd');
  });

  it('list held resources by short names', () => {
    expect(all.map(heldOf)).toEqual(['–', 'mcm 1, ca 1, kcm 1', '–', '–']);
  });
});

it('a shoot with ignore-scaling has a command that removes it', () => {
  const ignored = ['kube-controller-manager', 'other'].map((name) => ({ kind: 'Deployment', name, isDown: false }));
  expect(commandsFor(shootNamed('i', 'not protected', { ignored })).map(({ line }) => line)).toContain(
    'kubectl -n shoot--dev--i annotate deployment/other dependency-watchdog.gardener.cloud/ignore-scaling-',
  );
});

describe('durations', () => {
  it.each([
    [0, '0s'],
    [41_000, '41s'],
    [192_000, '3m12s'],
    [3_720_000, '1h02m'],
    [273_600_000, '3d4h'],
    [-5_000, '0s'],
  ])('%d ms are %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  it('are unknown without a time', () => {
    expect([since(undefined, 0), since('soon', 0), since('1970-01-01T00:00:01Z', 43_000)]).toEqual(['–', '–', '42s']);
  });
});

describe('commands', () => {
  it.each([
    ['shoot--dev--one', 'dwd resume --shoot shoot--dev--one'],
    [`$(reboot)'; x`, String.raw`dwd resume --shoot '$(reboot)'\''; x'`],
  ])('name %s as one word of a shell', (namespace, line) => {
    const lines = commandsFor(shootNamed('x', 'healthy', { namespace })).map((command) => command.line);
    expect(lines).toContain(line);
  });
});
