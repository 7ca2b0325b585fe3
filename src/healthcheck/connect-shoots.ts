import type { Call } from '../kubernetes/api/call.ts';
import { unlessNotFound } from '../kubernetes/api/errors.ts';
import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import type { ShootConnection } from '../kubernetes/api/shoot-connection.ts';
import { createKubeconfigCache, createShootConnector, withShootPolicy } from '../kubernetes/connection/index.ts';
import { decodeKubeconfigSecret } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';
import { ShootConnections } from './shoot-connections.ts';

export interface ShootAccessOptions {
  /** Environment variables, usually `process.env`: for `$KUBECONFIG`, the service account of the pod, and proxies. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Names of Secrets in a control-plane namespace whose key `kubeconfig` holds a kubeconfig for the shoot; the first Secret that exists with this key is used.
   * Default: `gardener-internal`, `gardener`.
   */
  readonly shootSecrets?: readonly string[] | undefined;
  /** True if the kubeconfig of a shoot may name an `http://` server, whose traffic anybody on the network can read and change. Default false. */
  readonly allowInsecureShoots?: boolean | undefined;
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

/** Access to the shoots of a seed, with one connection per shoot. */
export interface ShootAccess {
  readonly connectShoot: (namespace: string, signal: AbortSignal) => Promise<ShootConnection>;
  /** Closes all connections. */
  close(): void;
}

/** Opens no connection yet. `seed` reads the kubeconfigs. */
export const createShootAccess = (
  { env, allowInsecureShoots, shootSecrets: names = defaultShootSecrets }: ShootAccessOptions,
  { clock, seed, userAgent }: { readonly clock: Clock; readonly seed: KubeClient; readonly userAgent: string },
): ShootAccess => {
  const connector = createShootConnector({ clock, userAgent, known: createKubeconfigCache({ env }), kept: true });
  const connections = new ShootConnections({
    clock,
    connector: withShootPolicy(connector, { allowInsecureShoots }),
    readKubeconfig: (namespace, signal) =>
      readKubeconfig(seed, { namespace, names }, { signal, timeoutMs: secretTimeoutMs }),
    idleMs,
  });
  return {
    connectShoot: async (namespace, signal) => withTimeout(await connections.connect(namespace, signal)),
    close: () => connections.close(),
  };
};
