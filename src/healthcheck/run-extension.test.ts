import { describe, expect, it } from 'vitest';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { type ExtensionOptions, runExtension } from './run-extension.ts';

const controller = {
  kind: 'Worker' as const,
  type: 'local',
  checks: [{ conditionType: 'EveryNodeReady', check: async () => ({ status: 'True' as const }) }],
};
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
    [{ controllers: [{ ...controller, checks: [] }] }, 'health checks: checks must not be empty'],
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

  it('has types that refuse the condition type that gardener takes from no extension', () => {
    const { check } = { check: async () => ({ status: 'True' as const }) };
    const checks = [
      { conditionType: 'ControlPlaneHealthy', check },
      { conditionType: 'OfMine', check },
    ] as const;
    const of = (controllers: ExtensionOptions<(typeof checks)[number]['conditionType']>['controllers']) => controllers;
    expect(of([{ ...controller, checks }])).toHaveLength(1);
    // @ts-expect-error: the literal is refused.
    expect(of([{ ...controller, checks: [{ conditionType: 'APIServerAvailable', check }] }])).toHaveLength(1);
  });

  it('names its own option in the error about a kubeconfig', async () => {
    await expect(run({})).rejects.toThrow(/\/nowhere: does not exist; check the option kubeconfig$/);
  });
});
