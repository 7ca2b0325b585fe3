import type { WeederSettings } from '../../../src/weeder/index.ts';
import type { ShootInit } from '../../world/index.ts';
import type { LogRecord } from '../recorded-log.ts';
import { type SimulatedReplica, weeder as component } from '../replica.ts';
import { createScenario } from '../scenario.ts';
import { startKubelet } from './kubelet.ts';

export const weederSettings: WeederSettings = {
  watchDurationMs: 300_000,
  services: [
    { name: 'etcd-main-client', podSelectors: [{ matchLabels: { role: 'apiserver' }, matchExpressions: [] }] },
    {
      name: 'kube-apiserver',
      podSelectors: [
        {
          matchLabels: { 'gardener.cloud/role': 'controlplane' },
          matchExpressions: [{ key: 'role', operator: 'NotIn', values: ['main', 'apiserver'] }],
        },
      ],
    },
  ],
};

/** Creates a simulated seed and the weeder in it. */
export const createWeederFixture = (shoots: readonly ShootInit[] = []) => {
  const scenario = createScenario({ shoots });
  const { clock, world, log } = scenario;
  let running: SimulatedReplica<WeederSettings> | undefined;
  /** Returns the weeder that runs or ran last. */
  const weeder = (): SimulatedReplica<WeederSettings> => {
    if (running === undefined) throw new Error('no weeder has been started');
    return running;
  };
  return {
    ...{ scenario, clock, world, log, weeder },
    /** Changes pods and EndpointSlices for the test. */
    kubelet: startKubelet(world.store, clock),
    line: scenario.seedConnection,
    /** Log lines with this message. */
    logged: (message: string): readonly LogRecord[] => log.filter(({ msg }) => msg === message),
    start: (settings: Partial<WeederSettings> = {}, { dryRun } = { dryRun: false }): void => {
      running = scenario.start(component, { settings: { ...weederSettings, ...settings }, dryRun });
    },
    reload: (settings: Partial<WeederSettings>): void => weeder().reload({ ...weederSettings, ...settings }),
    stopWeeder: (): Promise<void> => scenario.end(weeder()),
    stop: (): Promise<void> => scenario.stop(),
  };
};

export type WeederFixture = ReturnType<typeof createWeederFixture>;
