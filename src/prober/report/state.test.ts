import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/index.ts';
import { ApiError } from '../../kubernetes/api/errors.ts';
import { type HeldInShoot, type PauseInForce, statusSchema } from '../../status/state/schema.ts';
import type { HostedCluster } from '../clusters/cluster-source.ts';
import { shootGone } from '../clusters/lifecycle.ts';
import type { Decision } from '../judge/judgement.ts';
import { decisionOf, memoryOf, runEnded, scalingOf, sightOf } from '../testing/events.ts';
import { candidatesOf } from '../testing/probe-run.ts';
import { deployment, failedVerdict, upVerdict } from '../testing/resources.ts';
import { desiredBy } from '../scale/desired.ts';
import type { Lack, ShootProberView } from './events.ts';
import { ShootStates } from './state.ts';

const shootSchema = statusSchema.shape.shoots.unwrap().element;

interface Given {
  readonly dryRun?: boolean;
  readonly seedName?: string;
  readonly names?: readonly string[];
  readonly pause?: PauseInForce;
}

const create = ({ dryRun = false, seedName, names = [], pause }: Given = {}) => {
  const clock = createVirtualClock();
  const lacks: (Lack | undefined)[] = [];
  const states = new ShootStates({
    ...{ clock, dryRun, seedName, leads: () => true },
    pauseOf: () => pause,
    emit: (event) => event.kind === 'lack-changed' && lacks.push(event.lack),
  });
  const lifecycle = { kind: 'stop', releasePolicy: 'release', reason: 'hibernation is enabled' } as const;
  const clusterOf = (shootName: string | undefined): HostedCluster => ({
    name: 'of no interest',
    shootName: shootName === undefined ? undefined : { namespace: 'garden-dev', name: shootName },
    seedName: 'aws-eu10',
    lifecycle: { ok: true, value: lifecycle },
  });
  const get = (name: string): HostedCluster => clusterOf(name === 'shoot--dev--one' ? 'one' : undefined);
  const entries = () => names.map((name) => [name, get(name)] as const);
  states.clustersBy({ clusters: { get, entries }, dependents: [], source: { gone: shootGone } });
  const step = (cluster: string, readView: () => ShootProberView): void =>
    states.observe({ kind: 'stepped', cluster, readView });
  const endRun = (cluster: string, decision: Decision, durationMs = 0): void =>
    states.observe(runEnded(cluster, decision, { result: { decision, durationMs } }));
  return { clock, states, step, endRun, lacks };
};

const kcm = { kind: 'Deployment', name: 'kcm' };
const held: HeldInShoot = { ...kcm, replicas: 2, since: '2020-01-01T00:00:00Z' };
const drill: PauseInForce = { reason: 'drill', by: 'kim' };
const unhealthy = { kind: 'unhealthy', crossedAt: 0, graceEndsAt: 10_000 } as const;

describe('the state of all shoots', () => {
  it('reads the start of a protection from the resources if they were held before the process started', () => {
    const { states, step } = create();
    step('a', () => sightOf({}, [held]));
    expect(states.rows()).toMatchObject([{ namespace: 'a', name: 'a', state: 'held', since: '2020-01-01T00:00:00Z' }]);
  });

  it.each<[dryRun: boolean, state: string, view: Partial<ShootProberView>]>([
    [false, 'losing nodes', { ignored: [{ ...kcm, isDown: false }] }],
    [true, 'not protected', { ignored: [{ ...kcm, isDown: false }] }],
    // A pause has just ended, or a standby waits for the leader: nothing scales it down yet.
    [false, 'losing nodes', { up: [kcm] }],
    [false, 'losing nodes', { unread: [kcm] }],
    [false, 'held', {}],
  ])('in an outage, dry run %s, is %s', (dryRun, state, view) => {
    const { clock, states, step, endRun } = create({ dryRun });
    const desired = desiredBy(unhealthy, { reason: 'an outage', judgedAt: 0 });
    step('a', () => ({
      ...sightOf({ verdict: unhealthy, desired, unmet: { since: clock.monotonic(), up: [] } }),
      ...view,
    }));
    endRun('a', decisionOf(unhealthy));
    const [row] = states.rows();
    expect(row?.state).toBe(state);
    expect(shootSchema.parse(row)).toEqual(row);
  });

  it('tells the error of a read that a scale-down needs, until one succeeds', () => {
    const { states, step, endRun } = create();
    const desired = desiredBy(unhealthy, { reason: 'an outage', judgedAt: 0 });
    step('a', () => ({ ...sightOf({ verdict: unhealthy, desired }), up: [kcm] }));
    endRun('a', decisionOf(unhealthy));
    const error = new ApiError({ code: 'Forbidden', status: 403, message: 'no right to get' });
    const scaling = scalingOf('down', { kind: 'reading' });
    const outcome = { key: 'kcm', result: { ok: false, error } } as const;
    const response = {
      scaling,
      action: { kind: 'read', key: 'kcm' },
      outcome,
      ref: deployment('kcm'),
      now: 0,
    } as const;
    states.observe({ kind: 'response-received', cluster: 'a', ...response });
    expect(states.rows()).toMatchObject([
      { why: expect.stringContaining('kcm could not be scaled: 403 no right to get') as string },
    ]);
    const read = { key: 'kcm', result: { ok: true, value: undefined } } as const;
    states.observe({ kind: 'response-received', cluster: 'a', ...response, outcome: read });
    expect(states.rows()[0]?.failedWrites).toBeUndefined();
  });

  it('tells nothing as released of which no watch shows anything', () => {
    const { states, step } = create();
    const acts = () => states.details('a')[0]?.decisions?.map(({ verdict }) => verdict);
    step('a', () => sightOf({}, [held]));
    step('a', () => ({ ...sightOf(), unread: [kcm] }));
    expect(acts()).toEqual([]);
    step('a', () => sightOf());
    expect(acts()).toEqual(['released']);
  });

  it.each<[what: string, view: Partial<ShootProberView>, lacks: readonly Lack[], pause?: PauseInForce]>([
    ['after five seconds', { up: [kcm] }, ['late']],
    ['not if something is held', { up: [kcm], held: [held] }, []],
    ['once that a pause holds it back', { up: [kcm] }, ['held back'], drill],
    ['nothing of a pause if nothing is up', {}, [], drill],
  ])('tells of an unmet outage %s', async (_, view, expected, pause) => {
    const { clock, step, endRun, lacks } = create({ pause });
    const desired = desiredBy(unhealthy, { reason: 'an outage', judgedAt: 0 });
    const unmet = pause === undefined ? { since: clock.monotonic(), up: ['kcm'] } : undefined;
    const shown = { ...sightOf({ verdict: unhealthy, desired, unmet }), ...view };
    endRun('a', decisionOf(unhealthy));
    step('a', () => shown);
    await clock.advance(4_999);
    step('a', () => shown);
    expect(lacks).toEqual(expected.filter((lack) => lack !== 'late'));
    for (const ms of [1, 1_000]) {
      await clock.advance(ms);
      step('a', () => shown);
    }
    expect(lacks).toEqual(expected);
  });

  it('names the seed as it is told to, else by its Clusters', () => {
    const names = ['shoot--dev--one'];
    expect([create(), create({ names }), create({ names, seedName: 'eu' })].map(({ states }) => states.seed())).toEqual(
      [undefined, 'aws-eu10', 'eu'],
    );
  });

  it('recomputes rows only when they are older than allowed', async () => {
    const { clock, states, step, endRun } = create();
    step('a', () => sightOf());
    const [row] = states.rows();
    endRun('a', decisionOf(upVerdict));
    expect(states.rows(500)[0]).toBe(row);
    await clock.advance(500);
    expect(states.rows(500)[0]?.state).toBe('healthy');
  });

  it('counts all leases until nodes are listed, then those of candidates, as of the last list', async () => {
    const { clock, states, step, endRun } = create();
    const now = clock.monotonic();
    const memory = memoryOf({ a: now, b: now - 30_000, c: now - 29_999 }, now);
    step('x', () => sightOf({ probe: memory }));
    endRun('x', decisionOf(upVerdict, { memory }));
    expect(states.rows()).toMatchObject([{ candidates: 3, expired: 1 }]);
    const leftOut = new Map([
      ['b', 'not managed by MCM'],
      ['d', 'it has no lease yet'],
    ]);
    const listed = { ...memory, candidates: { ...candidatesOf(['a', 'c'], now), leftOut, nodes: 4 } };
    endRun('x', decisionOf(upVerdict, { memory: listed }));
    const counts = { candidates: 2, expired: 0, lookedAt: new Date(clock.now()).toISOString() };
    expect(states.rows()).toMatchObject([{ ...counts, nodes: 4, leftOut: 2 }]);
    // A lazy run lists no nodes: that one was replaced by another shows at the next list.
    const { candidates: _, ...replaced } = memoryOf({ a: now, d: now }, now);
    endRun('x', decisionOf(upVerdict, { memory: { ...replaced, candidates: listed.candidates } }));
    expect(states.rows()).toMatchObject([{ ...counts, nodes: 4, leftOut: 2, state: 'healthy' }]);
    endRun('x', decisionOf(upVerdict, { memory: listed }));
    // A failed run has read nothing: nothing is told as newer or older than it was seen.
    await clock.advance(46_000);
    endRun('x', decisionOf(failedVerdict, { memory: listed }), 3_000);
    expect(states.rows()).toMatchObject([
      { ...counts, failing: { runs: 1, since: new Date(clock.now() - 3_000).toISOString() } },
    ]);
    step('x', () => sightOf({ probe: listed }));
    expect(states.details('x')[0]?.leases).toMatchObject([
      { name: 'a', ageMs: 0, expired: false, counted: true },
      { name: 'b', ageMs: 30_000, expired: true, counted: false, leftOut: 'not managed by MCM' },
      { name: 'c', ageMs: 29_999, expired: false, counted: true },
      { name: 'd', expired: false, counted: false, leftOut: 'it has no lease yet' },
    ]);
  });

  it('counts the silent leases of a run that could not list the nodes', () => {
    const { clock, states, step, endRun } = create();
    const now = clock.monotonic();
    step('x', () => sightOf());
    endRun(
      'x',
      decisionOf(failedVerdict, { memory: memoryOf({ a: now - 25_000, b: now - 25_000, c: now - 25_000 }, now) }),
    );
    expect(states.rows()).toMatchObject([{ candidates: 3, expired: 0, silentForMs: 25_000 }]);
  });

  it('tells since when every shoot has been probed', async () => {
    const { clock, states, step, endRun } = create();
    for (const namespace of ['a', 'b']) step(namespace, () => sightOf());
    step('orphan', () => sightOf({ nextRunAt: Number.POSITIVE_INFINITY }));
    const ran = (namespace: string) => endRun(namespace, decisionOf(upVerdict));
    ran('a');
    expect(states.lastRoundEndedAt()).toBeUndefined();
    await clock.advance(1_000);
    ran('b');
    const first = clock.now();
    await clock.advance(1_000);
    ran('a');
    expect(states.lastRoundEndedAt()).toBe(new Date(first).toISOString());
    states.observe({ kind: 'forgotten', cluster: 'b' });
    expect(states.lastRoundEndedAt()).toBe(new Date(clock.now()).toISOString());
  });

  it('keeps the decisions on a shoot for an hour after its prober has ended, and for its next prober', async () => {
    const one = 'shoot--dev--one';
    const { clock, states, step, endRun } = create({ names: [one] });
    const words = (): readonly string[] | undefined => states.details(one)[0]?.decisions?.map(({ verdict }) => verdict);
    step(one, () => sightOf({ verdict: unhealthy }, [held]));
    endRun(one, decisionOf(unhealthy));
    states.observe({ kind: 'forgotten', cluster: one });
    states.observe({ kind: 'forgotten', cluster: one });
    await clock.advance(3_599_999);
    expect(states.details(one)).toMatchObject([{ state: 'not probed', why: 'hibernation is enabled' }]);
    expect(words()).toEqual(['unhealthy']);
    step(one, () => sightOf());
    endRun(one, decisionOf(upVerdict));
    expect(words()).toEqual(['unhealthy', 'healthy']);
    states.observe({ kind: 'forgotten', cluster: one });
    await clock.advance(3_600_000);
    expect(words()).toEqual([]);
  });
});
