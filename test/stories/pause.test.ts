import { describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import { allHeld, allUp, reachOutage, stateOf } from '../../simulator/harness/support.ts';
import { formatPause, pausedAnnotation } from '../../src/annotations/pause.ts';
import { createStory } from './support/story.ts';

let scenario: Scenario;
const create = (): Scenario => (scenario = createStory({ shoots: [{ name: 'a' }, { name: 'b' }] }));

const namespaceOf = (shoot: string): string => scenario.world.shoot(shoot).namespace;

/** Writes the pause annotation of a Namespace; undefined removes it. */
const annotate = (name: string, text: string | undefined): void => {
  const { store } = scenario.world;
  const annotations = text === undefined ? {} : { [pausedAnnotation]: text };
  store.put(simKinds.Namespace, { metadata: { name, annotations } });
};
const pause = (name: string, forMs?: number): void =>
  annotate(
    name,
    formatPause({
      reason: 'LB maintenance',
      by: 'kim',
      ...(forMs === undefined ? {} : { until: scenario.clock.now() + forMs }),
    }),
  );

const eventsIn = (namespace: string) =>
  scenario.world.store.list(simKinds.Event, namespace).flatMap(({ reason, message, involvedObject }) => {
    const { kind, name } = involvedObject as { readonly kind: string; readonly name: string };
    return kind === 'Namespace' ? [`${name} ${String(reason)}: ${String(message)}`] : [];
  });

const metricOf = async (name: string, shoot: string): Promise<string | undefined> =>
  (await scenario.meter().metricsText())
    .split('\n')
    .find((line) => line.startsWith(`dwd_prober_${name}{namespace="${namespaceOf(shoot)}"}`));

describe('a paused shoot', () => {
  it('is not scaled down while another is, and is scaled down when its pause ends', async () => {
    const { clock, world } = create();
    scenario.startProber();
    await clock.advance(60_000);
    // The annotation has a resolution of one second.
    await clock.advance(1_000 - (clock.now() % 1_000));
    pause(namespaceOf('a'), 75_000);
    const endsAt = clock.monotonic() + 75_000;
    for (const shoot of ['a', 'b']) world.shoot(shoot).cutKubelets();
    await clock.advance(60_000);
    expect([stateOf(scenario, 'a'), stateOf(scenario, 'b')]).toEqual([allUp, allHeld]);
    expect(await metricOf('paused', 'a')).toMatch(/ 1$/);
    expect([await metricOf('outage_unmet', 'a'), await metricOf('outage_unmet', 'b')]).toEqual([
      expect.stringMatching(/ 1$/),
      expect.stringMatching(/ 0$/),
    ]);
    await clock.advance(25_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    const first = scenario.changes.find(({ namespace }) => namespace === namespaceOf('a'));
    expect((first?.at ?? 0) - endsAt).toBeLessThan(1_000);
    expect(first?.at).toBeGreaterThanOrEqual(endsAt);
    expect(await metricOf('paused', 'a')).toMatch(/ 0$/);
    const reasons = eventsIn(namespaceOf('a')).map((line) => line.replace(/until \S+Z/g, 'until T'));
    expect(reasons.toSorted()).toEqual([
      expect.stringMatching(
        /MeltdownProtectionHeldBack: Seed simulated: Not scaled down: a pause holds: 5\/5 .* still up; paused until T: LB .* To do: .*dwd resume/,
      ),
      `${namespaceOf('a')} MeltdownProtectionPaused: Seed simulated: Meltdown protection is paused, the shoot is not scaled down until T: LB maintenance (kim)`,
      `${namespaceOf('a')} MeltdownProtectionResumed: Seed simulated: The pause of meltdown protection is over: an outage is met again, but not on resources with ignore-scaling.`,
    ]);
  });

  it('is paused for an hour by an unreadable annotation, which is logged and shown', async () => {
    const { clock } = create();
    annotate(namespaceOf('a'), 'for an hour');
    await reachOutage(scenario);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    expect(scenario.log.filter(({ level }) => level === 'error')).toMatchObject([
      { msg: 'a pause cannot be read: it holds for an hour', problem: 'it is not JSON' },
    ]);
    // Other changes of the Namespace, and another configuration, do not make it longer.
    annotate(namespaceOf('a'), 'for an hour');
    scenario.reload({ probeIntervalMs: 7_000 });
    await clock.advance(3_000_000);
    expect([stateOf(scenario, 'a'), await metricOf('pause_unreadable', 'a')]).toEqual([
      allUp,
      expect.stringMatching(/ 1$/),
    ]);
    await clock.advance(600_000);
    expect([stateOf(scenario, 'a'), await metricOf('pause_unreadable', 'a')]).toEqual([
      allHeld,
      expect.stringMatching(/ 1$/),
    ]);
    annotate(namespaceOf('a'), undefined);
    await clock.advance(3_000);
    expect(await metricOf('pause_unreadable', 'a')).toBeUndefined();
  });

  it('stays paused while the watch of Namespaces fails, and when another configuration takes effect', async () => {
    const { clock, world } = create();
    pause(namespaceOf('a'));
    scenario.startProber();
    await clock.advance(60_000);
    scenario.seedConnection.setFaults(({ path }) => (path === '/api/v1/namespaces' ? { status: 503 } : undefined));
    scenario.reload({ probeIntervalMs: 7_000 });
    world.shoot('a').cutKubelets();
    await clock.advance(60_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
  });
});

describe('all shoots', () => {
  it('are paused by the annotation of the Namespace of the prober', async () => {
    const { clock } = create();
    pause('garden');
    await reachOutage(scenario, 'a');
    expect([stateOf(scenario, 'a'), await metricOf('paused', 'a'), await metricOf('paused', 'b')]).toEqual([
      allUp,
      expect.stringMatching(/ 1$/),
      expect.stringMatching(/ 1$/),
    ]);
    // It is taken back during the outage.
    annotate('garden', undefined);
    await clock.advance(2_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
  });

  it('are paused by the configuration, from one reload to the next', async () => {
    const { clock, world } = create();
    scenario.startProber({ paused: { reason: 'drill', by: 'the configuration' } });
    await clock.advance(60_000);
    world.shoot('a').cutKubelets();
    await clock.advance(60_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    scenario.reload({});
    // The scale-down comes at once, because the nodes have been silent for longer than KCM's grace period.
    await clock.advance(2_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
  });
});
