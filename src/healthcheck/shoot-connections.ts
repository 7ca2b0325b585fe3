import type { Call } from '../kubernetes/api/call.ts';
import { unlessNotFound } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import type { ShootConnection, ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import { decodeKubeconfigSecret } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';

export interface ShootConnectionsOptions {
  readonly clock: Clock;
  readonly connector: ShootConnector;
  /** Client of the seed. */
  readonly seed: KubeClient;
}

/** A connection to a shoot and the number of its users. */
interface Shared {
  readonly kubeconfig: string;
  readonly connection: ShootConnection;
  users: number;
  cancelIdle: () => void;
}

/**
 * Secrets in a control-plane namespace with a kubeconfig for the shoot: the first that exists with a key `kubeconfig` counts. It has the address in the seed,
 * which gardener prefers (`extensions/pkg/util/shoot_clients.go`, NewClientForShoot).
 */
const secrets = ['gardener-internal', 'gardener'];
const secretTimeoutMs = 10_000;
/** Idle time in milliseconds after which a connection closes: a shoot that no run connects to for this long is deleted or hibernated. */
const idleMs = 300_000;
/** Default timeout of calls in milliseconds. A call without a timeout would take a connection of its own, like a watch. */
const callTimeoutMs = 30_000;

const getKubeconfig = (namespace: string, name: string): Call<string | undefined> => ({
  method: 'GET',
  path: resourcePath({ apiVersion: 'v1', resource: 'secrets', namespace, name }),
  decode: (json) => decodeKubeconfigSecret(json, 'secret'),
});

/** Shares one connection per shoot among all runs, objects and controllers. */
export class ShootConnections {
  readonly #options: ShootConnectionsOptions;
  /** Connections for new users, by namespace. One that was replaced is closed by its last user. */
  readonly #current = new Map<string, Shared>();

  constructor(options: ShootConnectionsOptions) {
    this.#options = options;
  }

  /**
   * Connects to the shoot whose control plane is in `namespace`, by its present kubeconfig, because credentials are rotated. Each user must close its result once; the
   * connection itself stays open for later users. Rejects with an ApiError or a KubeconfigError, or with an Error if there is no kubeconfig.
   */
  async connect(namespace: string, signal: AbortSignal): Promise<ShootConnection> {
    const shared = this.#sharedFor(namespace, await this.#readKubeconfig(namespace, signal));
    shared.cancelIdle();
    shared.users += 1;
    const { client } = shared.connection;
    return {
      client: { call: (call, options) => client.call(call, { timeoutMs: callTimeoutMs, ...options }) },
      close: () => {
        shared.users -= 1;
        if (shared.users === 0) this.#release(namespace, shared);
      },
    };
  }

  /** Closes all connections, once all users have ended. */
  close(): void {
    for (const { connection, cancelIdle } of this.#current.values()) {
      cancelIdle();
      connection.close();
    }
    this.#current.clear();
  }

  async #readKubeconfig(namespace: string, signal: AbortSignal): Promise<string> {
    const { seed } = this.#options;
    const options = { signal, timeoutMs: secretTimeoutMs };
    for (const name of secrets) {
      const answer = await unlessNotFound(seed.call(getKubeconfig(namespace, name), options));
      if (answer?.value !== undefined) return answer.value;
    }
    throw new Error(`no Secret ${secrets.join(' or ')} with a key "kubeconfig" in namespace ${namespace}`);
  }

  #sharedFor(namespace: string, kubeconfig: string): Shared {
    const known = this.#current.get(namespace);
    if (known?.kubeconfig === kubeconfig) return known;
    const connection = this.#options.connector.clientFor(kubeconfig);
    const created: Shared = { kubeconfig, connection, users: 0, cancelIdle: () => undefined };
    this.#current.set(namespace, created);
    if (known?.users === 0) this.#release(namespace, known);
    return created;
  }

  /** Closes a connection without users: at once if it was replaced, else after the idle time. */
  #release(namespace: string, shared: Shared): void {
    shared.cancelIdle();
    if (this.#current.get(namespace) !== shared) {
      shared.connection.close();
      return;
    }
    shared.cancelIdle = this.#options.clock.timer(idleMs, () => {
      this.#current.delete(namespace);
      shared.connection.close();
    });
  }
}
