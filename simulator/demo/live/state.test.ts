import { describe, expect, it } from 'vitest';
import type { ShootSnapshot } from '../snapshot.ts';
import { type LiveState, addHappenings, beginLive, takeSnapshot, takeVerdict } from './state.ts';
import { deployment, shootSnapshot, snapshotOf } from './testing/snapshots.ts';
import { readVerdict } from './verdicts.ts';

const look = (state: LiveState, change: Partial<ShootSnapshot>): LiveState =>
  takeSnapshot(state, { ...snapshotOf(shootSnapshot('alpha', change)), at: 5_000 });

const begun = look(beginLive(['alpha', 'twin'], 'twin'), {});

const told = ({ happenings }: LiveState): readonly string[] => happenings.map(({ line }) => line.text);

const unknown = (ready: string): ShootSnapshot['nodes'] =>
  shootSnapshot('alpha').nodes.map((node) => ({ ...node, ready }));

describe('what has happened', () => {
  it('is nothing at the first look, whatever it shows, and nothing where nothing changes', () => {
    expect(told(begun)).toEqual([]);
    expect(told(look(begun, {}))).toEqual([]);
  });

  it.each<[change: Partial<ShootSnapshot>, lines: readonly string[]]>([
    [{ isCut: true }, ['its kubelets are cut off']],
    [{ isEtcdDown: true }, ['its etcd is killed']],
    [{ answers: false, nodes: [] }, ['its kube-apiserver is down']],
    [{ weeded: ['kube-apiserver-1'] }, ['the weeder deleted kube-apiserver-1']],
    [{ nodes: unknown('Unknown') }, ['KCM has given up 2 nodes (Unknown): 0 of 2 Ready']],
    [{ machines: ['shoot--sim--alpha-worker-2'] }, ['MCM deleted healthy machine shoot--sim--alpha-worker-1']],
    [
      { deployments: [deployment('kube-apiserver', { replicas: 0, active: true, stored: '1' })] },
      ['kube-apiserver              1 -> 0', '  annotated replicas=1, meltdown-protection-active'],
    ],
  ])('%j is told, and its end where it has one', (change, lines) => {
    const struck = look(begun, change);
    expect(told(struck)).toEqual(lines);
    expect(struck.happenings.map(({ at, line }) => [at, line.about])).toEqual(lines.map(() => [5_000, 'alpha']));
    expect(told(look(struck, change))).toEqual(lines);
  });

  it('tells when it is over', () => {
    const struck = look(begun, { isCut: true, isEtcdDown: true });
    expect(told(look(struck, {})).slice(2)).toEqual(['its kubelets are let through', 'its etcd is mended']);
  });

  it('is kept for a screen of any height, but not for ever', () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => ({
      tone: 'plain' as const,
      about: '',
      text: String(index),
    }));
    const { happenings } = addHappenings(begun, 0, lines);
    expect(happenings).toHaveLength(200);
    expect(happenings.at(-1)?.line.text).toBe('999');
  });
});

describe('the impact', () => {
  it('counts a node each time that it turns Unknown, and machines that are gone', () => {
    let state = look(begun, { nodes: unknown('Unknown') });
    state = look(state, { nodes: unknown('Unknown') });
    state = look(state, { nodes: unknown('True') });
    state = look(state, { nodes: unknown('Unknown'), machines: [] });
    expect(state.impacts.get('alpha')).toMatchObject({ nodesGivenUp: 4, machinesReplaced: 2 });
  });

  it('is not raised by an API server that cannot be asked', () => {
    let state = look(begun, { nodes: unknown('Unknown') });
    state = look(state, { answers: false, nodes: [] });
    state = look(state, { nodes: unknown('Unknown') });
    expect(state.impacts.get('alpha')?.nodesGivenUp).toBe(2);
  });
});

describe('a verdict', () => {
  it.each([
    ['healthy', '0/5 leases expired: no set', 'prober: healthy, 0/5 leases expired'],
    ['unhealthy', '3/5 expired', 'prober: unhealthy, 3/5 expired'],
    ['confirming', '3/5 expired', 'prober: confirming, 3/5 expired'],
    ['skipped', 'one', 'prober: skipped, one'],
    ['api_server_unreachable', 'GET /version: reset', 'prober: api_server_unreachable, GET /version'],
  ] as const)('%s with %j is told', (word, reason, text) => {
    const other = takeVerdict(begun, 6_000, {
      shoot: 'alpha',
      verdict: { word: word === 'skipped' ? 'throttled' : 'skipped', reason: 'before' },
    });
    const state = takeVerdict(other, 7_000, { shoot: 'alpha', verdict: { word, reason } });
    expect(state.verdicts.get('alpha')).toEqual({ word, reason });
    expect(told(state).slice(1)).toEqual([text]);
  });

  it('is told once, and not at all when it is the first and all is well', () => {
    const said = (word: 'healthy' | 'unhealthy', reason: string) => ({ shoot: 'alpha', verdict: { word, reason } });
    let state = takeVerdict(begun, 0, said('healthy', '0/5'));
    expect(told(state)).toEqual([]);
    state = takeVerdict(state, 1, said('unhealthy', '3/5'));
    state = takeVerdict(state, 2, said('unhealthy', '5/5'));
    expect(told(state)).toEqual(['prober: unhealthy, 3/5']);
    expect(state.verdicts.get('alpha')?.reason).toBe('5/5');
  });

  it('is read from the log of the prober', () => {
    const entry = {
      level: 'info',
      namespace: 'shoot--sim--alpha',
      verdict: 'unhealthy',
      reason: '3/5',
      msg: 'verdict',
    };
    expect(readVerdict(JSON.stringify(entry))).toEqual({
      namespace: 'shoot--sim--alpha',
      verdict: { word: 'unhealthy', reason: '3/5' },
    });
  });

  it.each([
    '',
    'not JSON',
    '{"namespace":"a","verdi',
    'null',
    '3',
    '{"namespace":"a","msg":"probing"}',
    '{"namespace":"a","verdict":"else","reason":"b"}',
    '{"verdict":"skipped","reason":"b"}',
    '{"namespace":"a","verdict":"skipped"}',
  ])('is not what %j says', (text) => {
    expect(readVerdict(text)).toBeUndefined();
  });
});
