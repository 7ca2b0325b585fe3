import { createWatchRegistry } from '../kubernetes/cache/index.ts';
import { KubeconfigError } from '../kubernetes/api/errors.ts';
import { createKubeClient, fenceWrites } from '../kubernetes/client/index.ts';
import { createKubeconfigCache, createShootConnector } from '../kubernetes/connection/index.ts';
import type { Logger } from '../ports/logger.ts';
import {
  type ReadyCheck,
  type ProcessParts,
  type Runnable,
  type SeedPorts,
  parseBindAddress,
  runSeedProcess,
  whenAborted,
} from '../process/index.ts';
import { createMeter } from '../telemetry/index.ts';
import type { HealthCheckController } from './check.ts';
import { ObjectController, checkController, createClusterWatch, needsClusters } from './controller.ts';
import { Heartbeat } from './heartbeat.ts';
import { createHealthCheckMetrics } from './report.ts';
import { ShootConnections } from './shoot-connections.ts';

/** Options of `runExtension`. */
export interface ExtensionOptions {
  /** Name of the extension, such as `provider-local`. It is the User-Agent, the holder of the heartbeat, and the prefix of the leader's Lease. */
  readonly name: string;
  /** Namespace of the extension, `extension-<name of its ControllerInstallation>`. It holds the Leases of the heartbeat and of the leader. */
  readonly namespace: string;
  /** Environment variables, usually `process.env`: for `$KUBECONFIG`, the service account of the pod, and proxies. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the seed's kubeconfig. Default: `$KUBECONFIG`, else the service account of the pod, else `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly logger: Logger;
  /** Controllers to run; at least one. They share one watch of the Clusters, and one connection per shoot. */
  readonly controllers: readonly HealthCheckController[];
  /** Interval between renewals of the heartbeat, in milliseconds; 0 if another process renews it. Default 30 s. */
  readonly heartbeatIntervalMs?: number;
  /** True if replicas elect a leader, and only the leader works. Default true. */
  readonly leaderElection?: boolean;
  /** Address of `/metrics` for Prometheus, such as `:8080` or `127.0.0.1:8080`; `0` turns it off. Default `:8080`. */
  readonly metricsBindAddress?: string;
  /** Address of `/healthz` and `/readyz`; `0` turns it off. Default `:8081`. */
  readonly healthBindAddress?: string;
  /** Sustained rate of requests to the seed, per second. Default 20. */
  readonly qps?: number;
  /** Number of requests that may exceed that rate at once. Default 40. */
  readonly burst?: number;
}

/** Times of leader election in milliseconds, as in client-go and in the components of this program. */
const electionTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
const defaultHeartbeatMs = 30_000;

const addressOf = (option: string, text: string) => {
  const parsed = parseBindAddress(text);
  if (!parsed.ok) throw new RangeError(`extension: ${option} ${parsed.error}`);
  return parsed.value;
};

const flagsOf = (options: ExtensionOptions): Parameters<typeof runSeedProcess>[0]['flags'] => {
  const { namespace, kubeconfig, qps = 20, burst = 40, leaderElection: enabled = true } = options;
  return {
    ...{ kubeconfig, qps, burst },
    metricsBindAddress: addressOf('metricsBindAddress', options.metricsBindAddress ?? ':8080'),
    healthBindAddress: addressOf('healthBindAddress', options.healthBindAddress ?? ':8081'),
    leaderElection: { enabled, namespace, ...electionTimes },
  };
};

const checkOptions = (options: ExtensionOptions): void => {
  const { name, namespace, controllers, qps = 20, burst = 40, heartbeatIntervalMs = defaultHeartbeatMs } = options;
  const problem = (text: string): RangeError => new RangeError(`extension: ${text}`);
  if (name === '') throw problem('name must not be empty');
  if (namespace === '') throw problem('namespace must not be empty');
  if (controllers.length === 0) throw problem('controllers must not be empty');
  controllers.forEach(checkController);
  if (!(heartbeatIntervalMs >= 0)) throw problem(`heartbeatIntervalMs must not be negative, is ${heartbeatIntervalMs}`);
  if (!(qps > 0)) throw problem(`qps must be greater than 0, is ${qps}`);
  if (!Number.isInteger(burst) || burst < 1) throw problem(`burst must be a whole number of at least 1, is ${burst}`);
};

/**
 * Runs the process of an extension: health checks of all `controllers`, the heartbeat, metrics, `/healthz` and `/readyz`, leader election, a limited request
 * rate and a graceful stop. Runs until `stop` aborts, and then resolves with the exit code 0. Resolves with 1 after a failure, which is logged, and after a
 * lost leadership. Rejects with a RangeError for invalid options, and with a KubeconfigError.
 */
export const runExtension = async (options: ExtensionOptions, stop: AbortSignal): Promise<number> => {
  checkOptions(options);
  const { name, env, logger } = options;
  return runSeedProcess({
    flags: flagsOf(options),
    addressNames: { metrics: 'option metricsBindAddress', health: 'option healthBindAddress' },
    leaseName: `${name}-leader-election`,
    urgentInFlight: 1,
    ...{ env, logger, stop },
    meter: createMeter(),
    userAgent: name,
    start: (ports) => partsOf(options, ports),
  }).catch(rethrowNamingOption);
};

/** Replaces the flag of a program in the message of a KubeconfigError by the option `kubeconfig`. Throws the error. */
const rethrowNamingOption = (error: unknown): never => {
  if (!(error instanceof KubeconfigError)) throw error;
  throw new KubeconfigError(error.field, error.problem.replaceAll('--kubeconfig', 'the option kubeconfig'));
};

const standby: ReadyCheck = { name: 'leader election', ok: true, detail: 'another replica leads' };

const runnable = (name: string, work: (signal: AbortSignal) => Promise<void>): Runnable => ({
  name,
  run: async (signal, ready) => {
    ready();
    await work(signal);
  },
});

const partsOf = (options: ExtensionOptions, ports: SeedPorts): ProcessParts => {
  const { meter, clock, leadership } = ports;
  const { name, namespace, env, controllers, heartbeatIntervalMs: renewIntervalMs = defaultHeartbeatMs } = options;
  const kube = fenceWrites(ports.seed, leadership);
  const seed = createKubeClient({ kube, clock });
  const known = createKubeconfigCache({ env });
  const connector = createShootConnector({ clock, userAgent: name, known, kept: true });
  const shoots = new ShootConnections({ seed, connector });
  const metrics = createHealthCheckMetrics(meter);
  const deps = { ...ports, kube, seed, shoots, registry: createWatchRegistry(meter), metrics };
  const clusters = controllers.some(needsClusters) ? createClusterWatch(deps) : undefined;
  const leading = [
    ...controllers.map((controller) => new ObjectController(controller, { ...deps, clusters })),
    ...(renewIntervalMs === 0 ? [] : [new Heartbeat({ ...deps, extensionName: name, namespace, renewIntervalMs })]),
  ];
  return {
    standby: [
      ...(clusters === undefined ? [] : [runnable('watch of Clusters', (signal) => clusters.run(signal))]),
      // Closes them after all their users have ended.
      runnable('connections to shoots', async (signal) => {
        await whenAborted(signal);
        shoots.close();
      }),
    ],
    leading: leading.map((part) => runnable(part.name, (signal) => part.run(signal))),
    checks: () => [
      ...(clusters === undefined ? [] : [{ name: 'clusters', ok: clusters.synced, detail: clusters.state().problem }]),
      ...(leadership.mayWrite() ? leading.map((part) => part.check()) : [standby]),
    ],
  };
};
