import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/index.ts';
import { failedVerdict } from '../testing/cases.ts';
import type { Decision } from '../judge/decision.ts';
import { type HeldInShoot, statusSchema } from '../status/schema.ts';
import { shownShoots } from '../status/prober-status.ts';
import { shownShoot } from '../status/shown-shoot.ts';
import { runEnded, wrote } from '../testing/prober-events.ts';
import { decisionOf, healthy, memoryOf, settings, sightOf } from '../testing/shoot-prober-views.ts';
import { desiredBy } from '../plan/desired.ts';
import type { ShootProberView } from './events.ts';
import { ShootStates } from './state.ts';

const shootSchema = statusSchema.shape.shoots.unwrap().element;

const create = ({ dryRun = false } = {}) => {
  const clock = createVirtualClock();
  const states = new ShootStates({ clock, dryRun, pauseOf: () => undefined });
  states.readFrom(
    (cluster) => (cluster === 'shoot--dev--one' ? { project: 'dev', name: 'one' } : undefined),
    () => [],
  );
  const step = (cluster: string, readView: () => ShootProberView): void =>
    states.observe({ kind: 'stepped', cluster, state: readView().state, readView });
  const endRun = (cluster: string, decision: Decision): void => states.observe(runEnded(cluster, decision));
  const rows = () => states.facts().map((facts) => shownShoot(facts, states.nameOf(facts.cluster)));
  const details = (cluster: string) => shownShoots(states, cluster);
  return { clock, states, step, endRun, rows, details };
};

const held: HeldInShoot = { kind: 'Deployment', name: 'kcm', replicas: 2, since: '2020-01-01T00:00:00Z' };
const unhealthy = { kind: 'unhealthy', crossedAt: 0 } as const;

describe('the state of all shoots', () => {
  it('shows the state of a shoot before, during and after an outage, and since when', async () => {
    const { clock, step, endRun, rows } = create();
    let sight: ShootProberView = sightOf({ nextRunAt: clock.monotonic() + 5_000 });
    const readView = () => sight;
    step('shoot--dev--one', readView);
    const begin = new Date(clock.now()).toISOString();
    expect(rows()).toMatchObject([
      { project: 'dev', name: 'one', state: 'unknown', since: begin, next: { text: 'first probe' } },
    ]);
    await clock.advance(5_000);
    endRun('shoot--dev--one', decisionOf(unhealthy, { reason: '5/5', counts: { candidates: 5, expired: 5 } }));
    sight = sightOf({ verdict: unhealthy }, [{ ...held, since: new Date(clock.now()).toISOString() }]);
    step('shoot--dev--one', readView);
    await clock.advance(60_000);
    const [row] = rows();
    expect(row).toMatchObject({ state: 'protected', reason: '5/5', candidates: 5, expired: 5 });
    expect(row?.since).toBe(new Date(clock.now() - 60_000).toISOString());
    expect(row?.lastRunEndedAt).toBe(row?.since);
  });

  it('reads the start of a protection from the resources if they were held before the process started', () => {
    const { step, rows } = create();
    step('a', () => sightOf({}, [held]));
    expect(rows()).toMatchObject([
      { namespace: 'a', name: 'a', state: 'protected', since: '2020-01-01T00:00:00.000Z' },
    ]);
  });

  it('shows an outage in which nothing or not all is held, except in a dry run, and resources with ignore-scaling', () => {
    const ignored = [{ kind: 'Deployment', name: 'kcm' }];
    const desired = desiredBy(unhealthy, { reason: 'an outage', judgedAt: 0 });
    for (const [dryRun, unmet] of [
      [false, true],
      [true, undefined],
    ] as const) {
      const { step, endRun, rows } = create({ dryRun });
      step('a', () => ({ ...sightOf({ verdict: unhealthy, desired }), isAnyUp: true, ignored }));
      step('b', () => sightOf({ verdict: unhealthy }, [held]));
      step('c', () => ({ ...sightOf({ verdict: unhealthy, desired }, [held]), isAnyUp: true }));
      for (const name of ['a', 'b', 'c']) endRun(name, decisionOf(unhealthy));
      // A failed run gives no new verdict.
      endRun('a', decisionOf(failedVerdict));
      const shown = rows();
      expect(shown.map((row) => [row.unmet, row.ignored])).toEqual([
        [unmet, ignored],
        [undefined, undefined],
        [unmet, undefined],
      ]);
      for (const row of shown) expect(shootSchema.parse(row)).toEqual(row);
    }
  });

  it('is computed again only when it is older than allowed', async () => {
    const { clock, states, step } = create();
    let state = {};
    step('a', () => sightOf(state));
    const [facts] = states.facts();
    state = { verdict: healthy };
    expect(states.facts(500)[0]).toBe(facts);
    await clock.advance(500);
    expect(states.facts(500)[0]?.protection).toBe('healthy');
  });

  it('counts all leases that are not left out until nodes are listed', () => {
    const { clock, step, endRun, rows, details } = create();
    const now = clock.monotonic();
    const probe = memoryOf({ a: now, b: now - 30_000, c: now - 29_999 }, now);
    const state = { verdict: healthy, probe };
    step('x', () => sightOf(state));
    endRun('x', decisionOf(healthy));
    expect(rows()).toMatchObject([{ candidates: 3, expired: 1 }]);
    const counts = { candidates: 2, expired: 0 };
    const leftOut = new Map([
      ['b', 'not managed by MCM'],
      ['d', 'it has no lease yet'],
    ]);
    endRun('x', decisionOf(healthy, { counts, leftOut, nodes: 4 }));
    expect(rows()).toMatchObject([{ ...counts, nodes: 4, leftOut: 2 }]);
    // A failed run has listed nothing: leases that did not count still do not.
    endRun('x', decisionOf(failedVerdict));
    expect(rows()).toMatchObject([counts]);
    expect(details('x')[0]?.leases).toMatchObject([
      { name: 'a', ageMs: 0, expired: false, counted: true },
      { name: 'b', ageMs: 30_000, expired: true, counted: false, leftOut: 'not managed by MCM' },
      { name: 'c', ageMs: 29_999, expired: false, counted: true },
      { name: 'd', expired: false, counted: false, leftOut: 'it has no lease yet' },
    ]);
  });

  it('shows one shoot in full, as the schema defines it', () => {
    const { states, step, endRun, details } = create();
    step('x', () => sightOf({ verdict: healthy, probe: memoryOf({ a: Number.NEGATIVE_INFINITY }, 0) }, [held]));
    endRun('x', decisionOf(healthy, { reason: 'fine' }));
    states.observe(wrote('x', { from: 2, to: 0, graceDeadline: { crossedAt: 0, graceEndsAt: 4_321.6 } }));
    const [shoot] = details('x');
    expect(shootSchema.parse(shoot)).toEqual(shoot);
    expect(shoot).toMatchObject({
      marginMs: 4_322,
      threshold: settings.nodeLeaseFailureFraction,
      leases: [{ name: 'a', expired: false, counted: true }],
      scaling: null,
      decisions: [{ verdict: 'healthy', reason: 'fine', runs: 1, threshold: 0.6 }, { verdict: 'scaled down' }],
    });
    expect(details('y')).toEqual([]);
  });

  it('ends a round when every shoot has been probed since the previous one', async () => {
    const { clock, states, step, endRun } = create();
    for (const namespace of ['a', 'b']) step(namespace, () => sightOf());
    step('orphan', () => sightOf({ nextRunAt: Number.POSITIVE_INFINITY }));
    const ran = (namespace: string) => endRun(namespace, decisionOf(healthy));
    ran('a');
    expect(states.lastRoundEndedAt).toBeUndefined();
    ran('b');
    const first = states.lastRoundEndedAt;
    expect(first).toBe(clock.now());
    await clock.advance(1_000);
    ran('a');
    ran('a');
    expect(states.lastRoundEndedAt).toBe(first);
    states.observe({ kind: 'forgotten', cluster: 'b' });
    expect(states.lastRoundEndedAt).toBe(clock.now());
  });

  it('lists the writes of its prober, and attributes a mark that the prober itself removed to nobody else', () => {
    const { states, step, details } = create();
    let sight = sightOf({ verdict: unhealthy }, [held]);
    step('a', () => sight);
    states.observe(wrote('a', { from: 2, to: 0 }));
    states.observe(wrote('a', { from: 2 }));
    sight = sightOf({ verdict: healthy });
    expect(details('a')[0]?.decisions?.map(({ verdict, reason }) => `${verdict}: ${reason}`)).toEqual([
      'scaled down: Deployment kcm, from 2 to 0 replicas',
      'given back: Deployment kcm, its mark is removed',
    ]);
  });
});
