import { upVerdict } from '../../src/prober/testing/cases.ts';
import { emptyProbeMemory } from '../../src/prober/judge/probe-memory.ts';
import { createProberReport } from '../../src/prober/report.ts';
import { StatusRecorder } from '../../src/prober/status/status-recorder.ts';
import { sightOf } from '../../src/prober/status/testing/shoot-prober-views.ts';
import { showUnmet } from '../../src/prober/status/status-gauges.ts';
import { createMeter } from '../../src/telemetry/index.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createRecordingLogger } from '../doubles/recording-logger.ts';

/** Text of a scrape of the prober's own metrics after it has probed that many shoots, with one failed run of each. */
export const scrapeOf = async (shoots: number): Promise<string> => {
  const meter = createMeter({ processMetrics: false });
  const events = { record: () => undefined };
  const clock = createVirtualClock();
  const report = createProberReport({ clock, logger: createRecordingLogger(), meter, events, dryRun: false });
  const recorder = new StatusRecorder({ clock, dryRun: false, pauseOf: () => undefined });
  showUnmet(meter, recorder);
  for (let index = 0; index < shoots; index += 1) {
    const namespace = `shoot--project--shoot-${String(index).padStart(4, '0')}`;
    const decision = { reason: '', nextRunAt: 0, memory: emptyProbeMemory, counts: { candidates: 50, expired: 0 } };
    const error = { code: 'Timeout', message: '' } as never;
    recorder.stepped(namespace, () => sightOf());
    report.paused(namespace, false);
    for (const verdict of [upVerdict, { kind: 'failed', failure: 'api_server_unreachable', error } as const]) {
      const result = { decision: { ...decision, verdict }, durationMs: 12, skewMs: 300 };
      const isUnprotected = (): boolean => false;
      report.runEnded(namespace, { result, previous: undefined, held: 0, missing: [], isUnprotected });
    }
  }
  return meter.metricsText();
};
