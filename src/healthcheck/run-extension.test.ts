import { describe, expect, it } from 'vitest';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import type { HealthCheckController } from './check.ts';
import { type ExtensionOptions, runExtension } from './run-extension.ts';

const check = { conditionType: 'EveryNodeReady', check: async () => ({ status: 'True' as const }) };
const controller = { kind: 'Worker' as const, type: 'local', checks: [check] };
const options: ExtensionOptions = {
  name: 'local',
  namespace: 'extension-local',
  env: {},
  logger: createRecordingLogger(),
  kubeconfig: '/nowhere',
  controllers: [controller],
};
const run = (changes: Partial<ExtensionOptions>) => runExtension({ ...options, ...changes }, AbortSignal.abort());

describe('the process of an extension', () => {
  it.each<[Partial<ExtensionOptions>, string]>([
    [{ name: '' }, 'extension: name must not be empty'],
    [{ namespace: '' }, 'extension: namespace must not be empty'],
    [{ controllers: [] }, 'extension: controllers must not be empty'],
    [{ heartbeatIntervalMs: -1 }, 'extension: heartbeatIntervalMs must not be negative, is -1'],
    [{ heartbeatIntervalMs: Number.NaN }, 'extension: heartbeatIntervalMs must not be negative, is NaN'],
    [{ qps: 0 }, 'extension: qps must be greater than 0, is 0'],
    [{ burst: 0.5 }, 'extension: burst must be a whole number of at least 1, is 0.5'],
    [
      { metricsBindAddress: '8080' },
      'extension: metricsBindAddress must be an address such as :9643, 127.0.0.1:9643 or [::1]:9643, or 0 to turn it off',
    ],
    [
      { healthBindAddress: 'x' },
      'extension: healthBindAddress must be an address such as :9643, 127.0.0.1:9643 or [::1]:9643, or 0 to turn it off',
    ],
  ])('does not start with %j', async (changes, problem) => {
    await expect(run(changes)).rejects.toThrow(new RangeError(problem));
  });

  it.each<[Partial<HealthCheckController>, string]>([
    [{ checks: [] }, 'checks must not be empty'],
    [{ checks: [{ ...check, conditionType: '' }] }, 'a check has an empty conditionType'],
    [
      { checks: [check, { ...check, conditionType: 'APIServerAvailable' }] },
      'gardener takes APIServerAvailable from no extension: no check may have this conditionType',
    ],
    [
      { conditionTypesToRemove: ['Old', 'EveryNodeReady'] },
      'conditionTypesToRemove has EveryNodeReady, which a check has as well',
    ],
    [{ classes: [] }, 'classes must not be empty'],
    [{ syncPeriodMs: 0 }, 'syncPeriodMs must be greater than 0, is 0'],
    [{ syncPeriodMs: Number.NaN }, 'syncPeriodMs must be greater than 0, is NaN'],
    [{ concurrency: 0 }, 'concurrency must be a whole number of at least 1, is 0'],
  ])('does not start with a controller with %j', async (changes, problem) => {
    await expect(run({ controllers: [{ ...controller, ...changes }] })).rejects.toThrow(
      new RangeError(`health checks: ${problem}`),
    );
  });

  it('names its own option in the error about a kubeconfig', async () => {
    await expect(run({})).rejects.toThrow(/\/nowhere: does not exist; check the option kubeconfig$/);
  });
});
