import { homedir } from 'node:os';
import { ApiError, type Call, KubeconfigError, type NamespacedName } from '../domain/index.ts';
import {
  connectCluster,
  createKubeClient,
  createShootConnector,
  decodeKubeconfigSecret,
  loadOperatorKubeconfig,
  retryThrottled,
} from '../kube/index.ts';
import type { CallOptions, Clock, KubeClient, Logger } from '../ports/index.ts';
import { systemClock } from '../runtime/index.ts';
import type { HealthCheckControllerOptions } from './controller.ts';

export interface ConnectOptions {
  /** Of the process: `process.env`. Tells of `$KUBECONFIG`, and of the pod that this is. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the seed's kubeconfig. Absent: `$KUBECONFIG`, else the service account of the pod, else `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly logger: Logger;
  /** Default `dependency-watchdog-healthcheck`. */
  readonly userAgent?: string;
  /** Secrets of a control-plane namespace, the first that exists, whose key `kubeconfig` reaches the shoot. Default those of gardener. */
  readonly shootSecrets?: readonly string[];
}

/** A seed and the way to its shoots, as `runHealthChecks` takes them. */
export interface SeedConnection
  extends Required<Pick<HealthCheckControllerOptions, 'clock' | 'seed' | 'connectShoot'>> {
  /** Closes the connections to the seed. */
  close(): void;
}

/** gardener prefers the address in the seed (`extensions/pkg/util/shoot_clients.go`, NewClientForShoot). */
const defaultShootSecrets = ['gardener-internal', 'gardener'];
const secretTimeoutMs = 10_000;

const getKubeconfig = ({ namespace, name }: NamespacedName): Call<string | undefined> => ({
  method: 'GET',
  path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(name)}`,
  decode: (json) => decodeKubeconfigSecret(json, 'secret'),
});

/** The first of the Secrets that is there. Rejects with an ApiError, or with an Error when there is none with a kubeconfig. */
const readKubeconfig = async (
  seed: KubeClient,
  { namespace, names }: { readonly namespace: string; readonly names: readonly string[] },
  options: CallOptions,
): Promise<string> => {
  for (const name of names) {
    try {
      const { value } = await seed.call(getKubeconfig({ namespace, name }), options);
      if (value !== undefined) return value;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'NotFound') throw error;
    }
  }
  throw new Error(`no Secret ${names.join(' or ')} with a key "kubeconfig" in namespace ${namespace}`);
};

/** Those that load a kubeconfig speak of the flag of a program. */
const asOption = (error: unknown): never => {
  if (!(error instanceof KubeconfigError)) throw error;
  throw new KubeconfigError(error.field, error.problem.replaceAll('--kubeconfig', 'the option kubeconfig'));
};

/**
 * Connects to the seed: pooled connections that are retried where the API server asks for it (`Retry-After`), with credentials that are
 * renewed, and a clock that is the machine's. Opens nothing yet. Rejects with a KubeconfigError that says what is wrong where.
 */
export const connect = async (options: ConnectOptions): Promise<SeedConnection> => {
  const { env, kubeconfig, logger, userAgent = 'dependency-watchdog-healthcheck' } = options;
  const { shootSecrets: names = defaultShootSecrets } = options;
  const clock: Clock = systemClock();
  const path = kubeconfig === undefined ? {} : { path: kubeconfig };
  const access = await loadOperatorKubeconfig({ ...path, env, homedir: homedir(), clock }).catch(asOption);
  const transport = connectCluster({ access, clock, logger, userAgent });
  const seed = createKubeClient({ kube: retryThrottled(transport, clock), clock });
  const connector = createShootConnector({ clock, userAgent });
  return {
    clock,
    seed,
    connectShoot: async (namespace, signal) => {
      const call = { signal, timeoutMs: secretTimeoutMs };
      return connector.connect(await readKubeconfig(seed, { namespace, names }, call));
    },
    close: () => transport.close(),
  };
};
