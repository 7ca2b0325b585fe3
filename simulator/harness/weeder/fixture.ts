import {
  createRateLimiter,
  limitedStack,
  staticCredentials,
  withCredentials,
} from '../../../src/kubernetes/client/index.ts';
import { parseUntrustedKubeconfig } from '../../../src/kubernetes/kubeconfig/index.ts';
import type { ReadyCheck, RunningComponent } from '../../../src/process/index.ts';
import { type PrometheusMeter, createMeter } from '../../../src/telemetry/index.ts';
import { type WeederSettings, startWeeder, weederComponent } from '../../../src/weeder/index.ts';
import { createSeededRandom, createVirtualClock } from '../../time/index.ts';
import { type ShootInit, createWorld } from '../../world/index.ts';
import { createServerConnection } from '../server-connection.ts';
import { type LogRecord, recordLog } from '../recorded-log.ts';
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

/** Defaults of `--kube-api-qps` and `--kube-api-burst`, and the limit of the weeder's urgent requests in flight. */
const limits = { qps: 5, burst: 10, urgentInFlight: weederComponent.urgentInFlight };

/** Creates a simulated seed and the real weeder with the rate limits of the real program, on one virtual clock, without sockets. */
export const createWeederFixture = (shoots: readonly ShootInit[] = []) => {
  const clock = createVirtualClock();
  const world = createWorld({ clock, shoots });
  const line = createServerConnection(world.api, { clock });
  const { authorization } = parseUntrustedKubeconfig(world.api.kubeconfig());
  const { log, logger } = recordLog(clock, 'debug');
  let meter = createMeter({ processMetrics: false });
  let weeder: RunningComponent<WeederSettings> | undefined;

  const stopWeeder = async (): Promise<void> => {
    const stopping = weeder;
    weeder = undefined;
    if (stopping !== undefined) await clock.run(stopping.stop());
  };

  const leadership = { mayWrite: true };
  return Object.assign(leadership, {
    clock,
    world,
    /** Changes pods and EndpointSlices for the test. */
    kubelet: startKubelet(world.store, clock),
    line,
    log,
    /** Log lines with this message. */
    logged: (message: string): readonly LogRecord[] => log.filter(({ msg }) => msg === message),
    meter: (): PrometheusMeter => meter,
    /** Checks that `/readyz` shows. */
    checks: (): readonly ReadyCheck[] => weeder?.checks() ?? [],
    start: (settings: Partial<WeederSettings> = {}, { dryRun } = { dryRun: false }): void => {
      if (weeder !== undefined) throw new Error('a weeder is running already');
      meter = createMeter({ processMetrics: false });
      const limiter = createRateLimiter({ ...limits, clock, meter });
      const transport = withCredentials(line.kube, staticCredentials(authorization));
      weeder = startWeeder({
        settings: { ...weederSettings, ...settings },

        dryRun,
        ports: {
          clock,
          random: createSeededRandom(0).fork('weeder'),
          logger,
          meter,
          seed: limitedStack(transport, { clock, limiter }),
          identity: 'test',
          leadership: { mayWrite: () => leadership.mayWrite },
        },
      });
    },
    reload: (settings: Partial<WeederSettings>): void => weeder?.apply({ ...weederSettings, ...settings }),
    stopWeeder,
    stop: async (): Promise<void> => {
      await stopWeeder();
      world.stop();
    },
  });
};

export type WeederFixture = ReturnType<typeof createWeederFixture>;
