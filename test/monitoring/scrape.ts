import { upVerdict } from '../../src/prober/testing/cases.ts';
import { measureEvents } from '../../src/prober/report/metrics.ts';
import { ShootStates } from '../../src/prober/report/state.ts';
import { runEnded } from '../../src/prober/testing/prober-events.ts';
import { decisionOf, sightOf } from '../../src/prober/testing/shoot-prober-views.ts';
import { createMeter } from '../../src/telemetry/index.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';

/** Text of a scrape of the prober's own metrics after it has probed that many shoots, with one failed run of each. */
export const scrapeOf = async (shoots: number): Promise<string> => {
  const meter = createMeter({ processMetrics: false });
  const clock = createVirtualClock();
  const states = new ShootStates({ clock, dryRun: false, pauseOf: () => undefined });
  const leads = (): boolean => true;
  const measure = measureEvents({ meter, clock, states, dryRun: false, leads, unreadablePauses: () => [] });
  for (let index = 0; index < shoots; index += 1) {
    const cluster = `shoot--project--shoot-${String(index).padStart(4, '0')}`;
    const error = { code: 'Timeout', message: '' } as never;
    const view = sightOf();
    states.observe({ kind: 'stepped', cluster, state: view.state, readView: () => view });
    for (const verdict of [upVerdict, { kind: 'failed', failure: 'api_server_unreachable', error } as const]) {
      const decision = decisionOf(verdict, { counts: { candidates: 50, expired: 0 } });
      const event = runEnded(cluster, decision, { result: { decision, durationMs: 12, skewMs: 300 } });
      states.observe(event);
      measure(event);
    }
  }
  return meter.metricsText();
};
