import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/index.ts';
import { failedVerdict } from '../testing/cases.ts';
import { StatusRecorder } from './status-recorder.ts';
import type { HeldInShoot, PauseInForce } from './schema.ts';
import { statusSchema } from './schema.ts';
import type { ShootProberView } from './shoot-prober-view.ts';
import { decisionOf, healthy, memoryOf, settings, sightOf } from './testing/shoot-prober-views.ts';

const shootSchema = statusSchema.shape.shoots.unwrap().element;

const create = ({ dryRun = false } = {}) => {
  const clock = createVirtualClock();
  const pauses = new Map<string, PauseInForce>();
  const recorder = new StatusRecorder({
    clock,
    dryRun,
    pauseOf: (namespace) => pauses.get(namespace),
  });
  recorder.nameBy((namespace) => (namespace === 'shoot--dev--one' ? { project: 'dev', name: 'one' } : undefined));
  return { clock, recorder, pauses };
};

const held: HeldInShoot = { kind: 'Deployment', name: 'kcm', replicas: 2, since: '2020-01-01T00:00:00Z' };
const unhealthy = { kind: 'unhealthy', crossedAt: 0 } as const;

describe('a status recorder', () => {
  it('shows the state of a shoot before, during and after an outage, and since when', async () => {
    const { clock, recorder } = create();
    let sight: ShootProberView = sightOf({ nextRunAt: clock.monotonic() + 5_000 });
    const readView = () => sight;
    recorder.stepped('shoot--dev--one', readView);
    const begin = new Date(clock.now()).toISOString();
    expect(recorder.rows()).toMatchObject([
      { project: 'dev', name: 'one', state: 'unknown', since: begin, next: { text: 'first probe' } },
    ]);
    await clock.advance(5_000);
    recorder.runEnded(
      'shoot--dev--one',
      decisionOf(unhealthy, { reason: '5/5', counts: { candidates: 5, expired: 5 } }),
    );
    sight = sightOf({ verdict: unhealthy }, [{ ...held, since: new Date(clock.now()).toISOString() }]);
    recorder.stepped('shoot--dev--one', readView);
    await clock.advance(60_000);
    const [row] = recorder.rows();
    expect(row).toMatchObject({ state: 'protected', reason: '5/5', candidates: 5, expired: 5 });
    expect(row?.since).toBe(new Date(clock.now() - 60_000).toISOString());
    expect(row?.lastRunEndedAt).toBe(row?.since);
  });

  it('reads the start of a protection from the resources if they were held before the process started', () => {
    const { recorder } = create();
    recorder.stepped('a', () => sightOf({}, [held]));
    expect(recorder.rows()).toMatchObject([
      { namespace: 'a', name: 'a', state: 'protected', since: '2020-01-01T00:00:00.000Z' },
    ]);
  });

  it('shows an outage in which nothing or not all is held, except in a dry run, and resources with ignore-scaling', () => {
    const ignored = [{ kind: 'Deployment', name: 'kcm' }];
    for (const [dryRun, unmet] of [
      [false, true],
      [true, undefined],
    ] as const) {
      const { recorder } = create({ dryRun });
      recorder.stepped('a', () => ({ ...sightOf({ verdict: unhealthy }), isUnmet: true, ignored }));
      recorder.stepped('b', () => sightOf({ verdict: unhealthy }, [held]));
      recorder.stepped('c', () => ({ ...sightOf({ verdict: unhealthy }, [held]), isUnmet: true }));
      for (const name of ['a', 'b', 'c']) recorder.runEnded(name, decisionOf(unhealthy));
      // A failed run gives no new verdict.
      recorder.runEnded('a', decisionOf(failedVerdict));
      const rows = recorder.rows();
      expect(rows.map((row) => [row.unmet, row.ignored])).toEqual([
        [unmet, ignored],
        [undefined, undefined],
        [unmet, undefined],
      ]);
      for (const row of rows) expect(shootSchema.parse(row)).toEqual(row);
    }
  });

  it('recomputes rows only when they are older than allowed', async () => {
    const { clock, recorder } = create();
    let state = {};
    recorder.stepped('a', () => sightOf(state));
    const [row] = recorder.rows();
    state = { verdict: healthy };
    expect(recorder.rows(500)[0]).toBe(row);
    await clock.advance(500);
    expect(recorder.rows(500)[0]?.state).toBe('healthy');
  });

  it('counts all leases that are not left out until nodes are listed', () => {
    const { clock, recorder } = create();
    const now = clock.monotonic();
    const probe = memoryOf({ a: now, b: now - 30_000, c: now - 29_999 }, now);
    const state = { verdict: healthy, probe };
    recorder.stepped('x', () => sightOf(state));
    recorder.runEnded('x', decisionOf(healthy));
    expect(recorder.rows()).toMatchObject([{ candidates: 3, expired: 1 }]);
    const counts = { candidates: 2, expired: 0 };
    const leftOut = new Map([
      ['b', 'not managed by MCM'],
      ['d', 'it has no lease yet'],
    ]);
    recorder.runEnded('x', decisionOf(healthy, { counts, leftOut, nodes: 4 }));
    expect(recorder.rows()).toMatchObject([{ ...counts, nodes: 4, leftOut: 2 }]);
    // A failed run has listed nothing: leases that did not count still do not.
    recorder.runEnded('x', decisionOf(failedVerdict));
    expect(recorder.rows()).toMatchObject([counts]);
    expect(recorder.details('x')[0]?.leases).toMatchObject([
      { name: 'a', ageMs: 0, expired: false, counted: true },
      { name: 'b', ageMs: 30_000, expired: true, counted: false, leftOut: 'not managed by MCM' },
      { name: 'c', ageMs: 29_999, expired: false, counted: true },
      { name: 'd', expired: false, counted: false, leftOut: 'it has no lease yet' },
    ]);
  });

  it('shows one shoot in full, as the schema defines it', () => {
    const { recorder } = create();
    recorder.stepped('x', () =>
      sightOf({ verdict: healthy, probe: memoryOf({ a: Number.NEGATIVE_INFINITY }, 0) }, [held]),
    );
    recorder.runEnded('x', decisionOf(healthy, { reason: 'fine' }));
    recorder.scaledDown('x', 4_321.6);
    const [shoot] = recorder.details('x');
    expect(shootSchema.parse(shoot)).toEqual(shoot);
    expect(shoot).toMatchObject({
      marginMs: 4_322,
      threshold: settings.nodeLeaseFailureFraction,
      leases: [{ name: 'a', expired: false, counted: true }],
      scaling: null,
      decisions: [{ verdict: 'healthy', reason: 'fine', runs: 1, threshold: 0.6 }],
    });
    expect(recorder.details('y')).toEqual([]);
  });

  it('ends a round when every shoot has been probed since the previous one', async () => {
    const { clock, recorder } = create();
    for (const namespace of ['a', 'b']) recorder.stepped(namespace, () => sightOf());
    recorder.stepped('orphan', () => sightOf({ nextRunAt: Number.POSITIVE_INFINITY }));
    const ran = (namespace: string) => recorder.runEnded(namespace, decisionOf(healthy));
    ran('a');
    expect(recorder.lastRoundEndedAt()).toBeUndefined();
    ran('b');
    const first = recorder.lastRoundEndedAt();
    expect(first).toBe(new Date(clock.now()).toISOString());
    await clock.advance(1_000);
    ran('a');
    ran('a');
    expect(recorder.lastRoundEndedAt()).toBe(first);
    recorder.forget('b');
    expect(recorder.lastRoundEndedAt()).toBe(new Date(clock.now()).toISOString());
  });

  it('lists the writes of its prober, and attributes a mark that the prober itself removed to nobody else', () => {
    const { recorder } = create();
    let sight = sightOf({ verdict: unhealthy }, [held]);
    recorder.stepped('a', () => sight);
    const resource = { kind: 'Deployment', name: 'kcm' };
    recorder.wrote('a', { resource, from: 2, to: 0 });
    recorder.wrote('a', { resource, from: 2 });
    sight = sightOf({ verdict: healthy });
    expect(recorder.details('a')[0]?.decisions?.map(({ verdict, reason }) => `${verdict}: ${reason}`)).toEqual([
      'scaled down: Deployment kcm, from 2 to 0 replicas',
      'given back: Deployment kcm, its mark is removed',
    ]);
  });
});
