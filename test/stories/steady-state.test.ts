import { describe, expect, it } from 'vitest';
import { createScenario } from '../../simulator/harness/harness.ts';

describe('healthy steady state', () => {
  it.each([3, 100, 300])('costs two requests a run, of one new connection, with %i nodes', async (nodes) => {
    const scenario = createScenario({ shoots: [{ name: 'a', nodes }] });
    const { clock } = scenario;
    const line = scenario.shootLine('a');
    const { requests } = line;
    scenario.startProber();
    await clock.advance(20_000);
    requests.reset();
    scenario.seedLine.requests.reset();
    const [connectionsBefore, logBefore] = [line.connections(), scenario.log.length];
    await clock.advance(300_000);
    const runs = requests.total({ verb: 'get', resource: '/version' });
    // Every 10 to 12 seconds: deadline-driven looks add nothing while kubelets renew.
    expect(runs).toBeGreaterThanOrEqual(25);
    expect(runs).toBeLessThanOrEqual(30);
    expect(Object.fromEntries(requests.byKey)).toEqual({ 'get /version': runs, 'list leases': runs });
    expect(line.connections() - connectionsBefore).toBe(runs);
    expect(scenario.seedLine.requests.total()).toBe(0);
    expect(scenario.log.slice(logBefore).filter(({ level }) => level !== 'debug')).toEqual([]);
    expect(scenario.changes).toEqual([]);
    await scenario.stop();
  });

  it('is silence towards a shoot that is not probed', async () => {
    const scenario = createScenario({ shoots: [{ name: 'a', pools: [] }] });
    scenario.startProber();
    await scenario.clock.advance(120_000);
    expect(scenario.shootLine('a').requests.total()).toBe(0);
    await scenario.stop();
  });
});
