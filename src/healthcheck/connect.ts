import { homedir } from 'node:os';
import type { Call } from '../kubernetes/api/call.ts';
import { KubeconfigError, unlessNotFound } from '../kubernetes/api/errors.ts';
import type { CallOptions, Kube, KubeClient } from '../kubernetes/api/kube.ts';
import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import type { ShootConnection } from '../kubernetes/api/shoot-connection.ts';
import { commandStack, createKubeClient } from '../kubernetes/client/index.ts';
import {
  connectCluster,
  createKubeconfigCache,
  createShootConnector,
  withShootPolicy,
} from '../kubernetes/connection/index.ts';
import { decodeKubeconfigSecret, loadOperatorKubeconfig } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import { systemClock, systemRandom } from '../process/index.ts';
import type { SeedAccess } from './check.ts';
import { ShootConnections } from './shoot-connections.ts';

/** Options of `connect`. */
export interface ConnectOptions {
  /** Environment variables, usually `process.env`: for `$KUBECONFIG`, the service account of the pod, and proxies. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the seed's kubeconfig. Default: `$KUBECONFIG`, else the service account of the pod, else `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly logger: Logger;
  /** User-Agent of all requests. Default `dependency-watchdog-healthcheck`. */
  readonly userAgent?: string;
  /**
   * Names of Secrets in a control-plane namespace whose key `kubeconfig` holds a kubeconfig for the shoot; the first Secret that exists with this key is used.
   * Default: `gardener-internal`, `gardener`.
   */
  readonly shootSecrets?: readonly string[] | undefined;
  /** True if the kubeconfig of a shoot may name an `http://` server, whose traffic anybody on the network can read and change. Default false. */
  readonly allowInsecureShoots?: boolean | undefined;
}

/** Access to a seed and its shoots, for `runHealthChecks`. */
export interface SeedConnection extends Required<SeedAccess> {
  /** Closes all connections. */
  close(): void;
}

/** Secrets that gardener uses. The first has the address in the seed, which it prefers (`extensions/pkg/util/shoot_clients.go`, NewClientForShoot). */
const defaultShootSecrets = ['gardener-internal', 'gardener'];
const secretTimeoutMs = 10_000;
/** Idle time in milliseconds after which a connection closes: a shoot that no run connects to for this long is deleted or hibernated. */
const idleMs = 300_000;
/** Default timeout of calls in milliseconds. A call without a timeout would take a connection of its own, like a watch. */
const shootTimeoutMs = 30_000;

const getKubeconfig = ({ namespace, name }: NamespacedName): Call<string | undefined> => ({
  method: 'GET',
  path: resourcePath({ apiVersion: 'v1', resource: 'secrets', namespace, name }),
  decode: (json) => decodeKubeconfigSecret(json, 'secret'),
});

/** Reads the kubeconfig from the first Secret that has one. Rejects with an ApiError, or with an Error if none has a kubeconfig. */
const readKubeconfig = async (
  seed: KubeClient,
  { namespace, names }: { readonly namespace: string; readonly names: readonly string[] },
  options: CallOptions,
): Promise<string> => {
  for (const name of names) {
    const answer = await unlessNotFound(seed.call(getKubeconfig({ namespace, name }), options));
    if (answer?.value !== undefined) return answer.value;
  }
  throw new Error(`no Secret ${names.join(' or ')} with a key "kubeconfig" in namespace ${namespace}`);
};

const withTimeout = (connection: ShootConnection): ShootConnection => ({
  client: { call: (call, options) => connection.client.call(call, { timeoutMs: shootTimeoutMs, ...options }) },
  close: () => connection.close(),
});

interface SeedAccessOptions extends Pick<ConnectOptions, 'env' | 'shootSecrets' | 'allowInsecureShoots'> {
  readonly clock: Clock;
  readonly random: Random;
  /** Transport to the seed, with all its policies. */
  readonly kube: Kube;
  readonly userAgent: string;
}

/** Creates the access. It opens no connection yet, and closes only those to shoots. */
export const createSeedAccess = (options: SeedAccessOptions): SeedConnection => {
  const { clock, random, kube, userAgent, env, allowInsecureShoots } = options;
  const { shootSecrets: names = defaultShootSecrets } = options;
  const seed = createKubeClient({ kube, clock });
  const connector = createShootConnector({ clock, userAgent, known: createKubeconfigCache({ env }), kept: true });
  const connections = new ShootConnections({
    clock,
    connector: withShootPolicy(connector, { allowInsecureShoots }),
    readKubeconfig: (namespace, signal) =>
      readKubeconfig(seed, { namespace, names }, { signal, timeoutMs: secretTimeoutMs }),
    idleMs,
  });
  return {
    clock,
    seed,
    watch: { kube, random },
    connectShoot: async (namespace, signal) => withTimeout(await connections.connect(namespace, signal)),
    close: () => connections.close(),
  };
};

/** Replaces the flag of a program in the message of a KubeconfigError by the option `kubeconfig`. Throws the error. */
export const rethrowNamingOption = (error: unknown): never => {
  if (!(error instanceof KubeconfigError)) throw error;
  throw new KubeconfigError(error.field, error.problem.replaceAll('--kubeconfig', 'the option kubeconfig'));
};

/**
 * Returns access to the seed and its shoots, with pooled connections, retries after a `Retry-After`, renewal of credentials, and the clock of the machine.
 * Reads the kubeconfig, but opens no connection yet. Rejects with a KubeconfigError that names the invalid field.
 */
export const connect = async (options: ConnectOptions): Promise<SeedConnection> => {
  const { env, kubeconfig: path, logger, userAgent = 'dependency-watchdog-healthcheck' } = options;
  const clock = systemClock();
  const access = await loadOperatorKubeconfig({ path, env, homedir, clock }).catch(rethrowNamingOption);
  const transport = connectCluster({ access, clock, logger, userAgent });
  const kube = commandStack(transport, clock);
  const seed = createSeedAccess({ ...options, clock, random: systemRandom(), kube, userAgent });
  return {
    ...seed,
    close: () => {
      seed.close();
      transport.close();
    },
  };
};
