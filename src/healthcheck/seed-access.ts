import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import type { Call } from '../kubernetes/api/call.ts';
import { unlessNotFound } from '../kubernetes/api/errors.ts';
import type { CallOptions, Kube, KubeClient } from '../kubernetes/api/kube.ts';
import type { ShootConnection } from '../kubernetes/api/shoot-connection.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { createKubeClient } from '../kubernetes/client/index.ts';
import { createKubeconfigCache, createShootConnector, withShootPolicy } from '../kubernetes/connection/index.ts';
import { decodeKubeconfigSecret } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { SeedAccess } from './controller.ts';
import { ShootConnections } from './shoot-connections.ts';

export interface SeedAccessOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Transport to the seed, with all its policies. */
  readonly kube: Kube;
  readonly userAgent: string;
  /** Environment of the process, for its proxies. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Names of Secrets in a control-plane namespace whose key `kubeconfig` holds a kubeconfig for the shoot; the first Secret that exists with this key is used.
   * Default: `gardener-internal`, `gardener`.
   */
  readonly shootSecrets?: readonly string[] | undefined;
  /** True if the kubeconfig of a shoot may name an `http://` server, whose traffic anybody on the network can read and change. Default false. */
  readonly allowInsecureShoots?: boolean | undefined;
}

/** Access to a seed and its shoots, to be closed after use. */
export interface OpenSeedAccess extends Required<SeedAccess> {
  /** Closes the connections to the shoots. */
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

/** Creates the access. It opens no connection yet. */
export const createSeedAccess = (options: SeedAccessOptions): OpenSeedAccess => {
  const {
    clock,
    random,
    kube,
    userAgent,
    env,
    shootSecrets: names = defaultShootSecrets,
    allowInsecureShoots,
  } = options;
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
