import type { Call } from '../kubernetes/api/call.ts';
import { unlessNotFound } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import type { ShootConnection, ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import { decodeKubeconfigSecret } from '../kubernetes/kubeconfig/index.ts';

export interface ShootConnectionsOptions {
  readonly connector: ShootConnector;
  /** Client of the seed. */
  readonly seed: KubeClient;
}

/**
 * Secrets in a control-plane namespace with a kubeconfig for the shoot: the first that exists with a key `kubeconfig` counts. It has the address in the seed,
 * which gardener prefers (`extensions/pkg/util/shoot_clients.go`, NewClientForShoot).
 */
const secrets = ['gardener-internal', 'gardener'];
const secretTimeoutMs = 10_000;

const getKubeconfig = (namespace: string, name: string): Call<string | undefined> => ({
  method: 'GET',
  path: resourcePath({ apiVersion: 'v1', resource: 'secrets', namespace, name }),
  decode: (json) => decodeKubeconfigSecret(json, 'secret'),
});

/** Shares one connection per shoot among all runs, objects and controllers. The connection opens with a request, and closes by itself when it is idle. */
export class ShootConnections {
  readonly #options: ShootConnectionsOptions;
  readonly #known = new Map<string, { readonly kubeconfig: string; readonly connection: ShootConnection }>();

  constructor(options: ShootConnectionsOptions) {
    this.#options = options;
  }

  /**
   * Returns a client of the shoot whose control plane is in `namespace`, with its present kubeconfig, because credentials are rotated. Rejects with an ApiError
   * or a KubeconfigError, or with an Error if there is no kubeconfig.
   */
  async clientFor(namespace: string, signal: AbortSignal): Promise<KubeClient> {
    const kubeconfig = await this.#readKubeconfig(namespace, signal);
    let known = this.#known.get(namespace);
    if (known?.kubeconfig !== kubeconfig) {
      // Not closed here: a run may still use the former one.
      known = { kubeconfig, connection: this.#options.connector.clientFor(kubeconfig) };
      this.#known.set(namespace, known);
    }
    return known.connection.client;
  }

  /** Closes the connection to a shoot that is gone. */
  forget(namespace: string): void {
    this.#known.get(namespace)?.connection.close();
    this.#known.delete(namespace);
  }

  close(): void {
    for (const namespace of [...this.#known.keys()]) this.forget(namespace);
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
}
