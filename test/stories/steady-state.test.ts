import { describe, expect, it } from 'vitest';
import { editShoot } from '../../simulator/harness/support.ts';
import { createStory } from './support/story.ts';

describe('healthy steady state', () => {
  it.each([3, 300])('costs two requests and one connection per run, with %i nodes', async (nodes) => {
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

  it('costs no request to a shoot that is not probed', async () => {
    const scenario = createStory();
    editShoot(scenario, 'a', (shoot) => ({ ...shoot, spec: { provider: { workers: [] } } }));
    scenario.startProber();
    await scenario.clock.advance(120_000);
    expect(scenario.shootConnection('a').requests.total()).toBe(0);
  });
});
