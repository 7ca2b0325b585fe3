import { describe, expect, it } from 'vitest';
import { shootNamed } from '../../../test/doubles/probed-shoots.ts';
import { commandsFor } from './commands.ts';
import { countByState, exposureWords, heldOf, isPlainHealthy, matches, sorted, unprobedWords } from './states.ts';
import { duration, since } from './times.ts';

const all = [shootNamed('b'), shootNamed('c', 'protected'), shootNamed('a'), shootNamed('d', 'paused')];
const names = (shoots: readonly { readonly name: string }[]): string => shoots.map(({ name }) => name).join('');

describe('shoots', () => {
  it('are sorted by state, the worst first, then by name', () => {
    expect(names(sorted(all))).toBe('cdab');
  });

  it('are counted by state', () => {
    expect([...countByState(all)]).toEqual([
      ['healthy', 2],
      ['protected', 1],
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
    const states = new Set(['paused', 'protected'] as const);
    expect(names(all.filter((shoot) => matches(shoot, { text: '', states })))).toBe('cd');
  });

  it('list held resources by short names', () => {
    expect(all.map(heldOf)).toEqual(['–', 'mcm 1, ca 1, kcm 1', '–', '–']);
  });
});

describe('a shoot that is less protected than its state suggests', () => {
  const ignored = ['kube-controller-manager', 'other'].map((name) => ({ kind: 'Deployment', name }));
  const unmet = shootNamed('u', 'paused', { unmet: true });
  const ignoring = shootNamed('i', 'healthy', { ignored });

  it('comes first during an outage, and otherwise before healthy shoots', () => {
    expect(names(sorted([...all, ignoring, unmet]))).toBe('ucdiab');
    expect([...all, ignoring].map(isPlainHealthy)).toEqual([true, false, true, false, false]);
  });

  it('is described in words, and found by them', () => {
    expect([unmet, ignoring, shootNamed('a')].map(exposureWords)).toEqual([
      'OUTAGE WITHOUT FULL PROTECTION: nodes are lost',
      'NOT PROTECTED: ignore-scaling on kcm, other',
      '',
    ]);
    expect(matches(ignoring, { text: 'not protected', states: new Set() })).toBe(true);
  });

  it('has a command that removes ignore-scaling', () => {
    expect(commandsFor(ignoring).map(({ line }) => line)).toContain(
      'kubectl -n shoot--dev--i annotate deployment/other dependency-watchdog.gardener.cloud/ignore-scaling-',
    );
  });
});

describe('shoots that are held and not probed', () => {
  const held = [{ kind: 'Deployment', name: 'kube-controller-manager', replicas: 1 }];
  const named = (name: string) => ({ namespace: `shoot--dev--${name}`, name, reason: 'it is being deleted', held });

  it('have a warning each, with the command that restores it', () => {
    expect(unprobedWords(undefined)).toEqual([]);
    expect(unprobedWords([named('a')])).toEqual([
      'shoot--dev--a is not probed (it is being deleted), so no prober restores its held resources: kcm. To restore them: dwd release --shoot shoot--dev--a',
    ]);
  });

  it('are named up to three, and counted beyond', () => {
    const warnings = unprobedWords(['a', 'b', 'c', 'd', 'e'].map(named));
    expect(warnings).toHaveLength(4);
    expect(warnings.at(-1)).toBe('2 more shoots with held resources are not probed: dwd status -o json lists them.');
  });
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
