import { describe, expect, it } from 'vitest';
import { prober, startReplica } from '../../simulator/harness/replica.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { editShoot } from '../../simulator/harness/support.ts';
import { createVirtualClock } from '../../simulator/time/index.ts';
import { createWorld } from '../../simulator/world/index.ts';
import { createStory } from './support/story.ts';

describe('healthy steady state', () => {
  it.each([3, 100, 300])('costs two requests and one connection per run, with %i nodes', async (nodes) => {
    const scenario = createStory({ shoots: [{ name: 'a', nodes }] });
    const { clock } = scenario;
    const line = scenario.shootConnection('a');
    const { requests } = line;
    scenario.startProber();
    await clock.advance(20_000);
    requests.reset();
    scenario.seedConnection.requests.reset();
    const [connectionsBefore, logBefore] = [line.connections(), scenario.log.length];
    await clock.advance(270_000);
    const runs = requests.total({ verb: 'get', resource: '/version' });
    // One run every 10 to 12 seconds: no run before a threshold is added while kubelets renew.
    expect(runs).toBeGreaterThanOrEqual(22);
    expect(runs).toBeLessThanOrEqual(27);
    expect(Object.fromEntries(requests.byKey)).toEqual({ 'get /version': runs, 'list leases': runs });
    expect(line.connections() - connectionsBefore).toBe(runs);
    expect(scenario.seedConnection.requests.total()).toBe(0);
    expect(scenario.log.slice(logBefore).filter(({ level }) => level !== 'debug')).toEqual([]);
    expect(scenario.changes).toEqual([]);
  });

  it('costs a list of nodes and one of machines every five minutes: who cannot be protected must be known before an outage', async () => {
    const scenario = createStory();
    const { clock } = scenario;
    scenario.startProber();
    await clock.advance(20_000);
    const { requests } = scenario.shootConnection('a');
    requests.reset();
    scenario.seedConnection.requests.reset();
    await clock.advance(1_200_000);
    expect(requests.total({ verb: 'list', resource: 'nodes' })).toBe(3);
    expect(scenario.seedConnection.requests.total({ verb: 'list' })).toBe(3);
  });

  it('is reached by 250 shoots without a failed run, and without a long queue at the seed', {
    timeout: 60_000,
  }, async () => {
    const clock = createVirtualClock();
    const shoots = Array.from({ length: 250 }, (_, index) => ({ name: `s${String(index)}`, nodes: 2 }));
    const world = createWorld({ clock, shoots });
    await clock.advance(30_000);
    const { meter } = startReplica(prober(), { world, clock }, { settings: gardenSettings });
    for (let seconds = 1; seconds <= 60; seconds += 4) {
      await clock.advance(4_000);
      const waiting = /dwd_kube_rate_limit_waiting\{[^}]*\} (\d+)/.exec(await meter.metricsText())?.[1];
      // Five pass each second.
      expect(Number(waiting)).toBeLessThanOrEqual(60);
    }
    await clock.advance(60_000);
    const text = await meter.metricsText();
    const results = new Set(
      [...text.matchAll(/dwd_prober_runs_total\{[^}]*result="(\w+)"/g)].map(([, result]) => result),
    );
    expect([...results]).toEqual(['healthy']);
    expect(text.match(/dwd_prober_candidate_leases\{[^}]*\} 2/g)).toHaveLength(250);
  });

  it('costs no request to a shoot that is not probed', async () => {
    const scenario = createStory();
    editShoot(scenario, 'a', (shoot) => ({ ...shoot, spec: { provider: { workers: [] } } }));
    scenario.startProber();
    await scenario.clock.advance(120_000);
    expect(scenario.shootConnection('a').requests.total()).toBe(0);
  });
});
