import { expect, it } from 'vitest';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { newCondition } from '../gardener/condition.ts';
import { createMeter } from '../telemetry/index.ts';
import { decodeExtension } from './extension.ts';
import { HealthCheckReport, createHealthCheckMetrics } from './report.ts';

it('the metric has no condition of an object that is no longer checked', async () => {
  const meter = createMeter({ processMetrics: false });
  const metrics = createHealthCheckMetrics(meter);
  const report = new HealthCheckReport({ logger: createRecordingLogger(), kind: 'Worker', metrics });
  const object = decodeExtension({ metadata: { name: 'a', namespace: 'shoot--dev--one' } }, 'worker');
  report.judged(object, [newCondition('EveryNodeReady', 0)]);
  expect(await meter.metricsText()).toContain('dwd_healthcheck_condition{');
  report.ran(object, 'left-alone');
  expect(await meter.metricsText()).not.toContain('dwd_healthcheck_condition{');
});
