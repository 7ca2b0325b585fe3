import type { ShootConnection, ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import type { Clock } from '../ports/clock.ts';

export interface ShootConnectionsOptions {
  readonly clock: Clock;
  readonly connector: ShootConnector;
  /** Reads the current kubeconfig of the shoot. It changes when credentials are rotated. */
  readonly readKubeconfig: (namespace: string, signal: AbortSignal) => Promise<string>;
  /** How long an unused connection stays open, in milliseconds. */
  readonly idleMs: number;
}

/** A connection to a shoot and the number of its users. */
interface Shared {
  readonly kubeconfig: string;
  readonly connection: ShootConnection;
  users: number;
  cancelIdle: () => void;
}

/** Shares one connection per shoot among all runs, objects and controllers. */
export class ShootConnections {
  readonly #options: ShootConnectionsOptions;
  /** Connections for new users, by namespace. One that was replaced is closed by its last user. */
  readonly #current = new Map<string, Shared>();
  #isClosed = false;

  constructor(options: ShootConnectionsOptions) {
    this.#options = options;
  }

  /** Connects to the shoot whose control plane is in `namespace`. Each user must close its result; the connection itself stays open for later users. */
  async connect(namespace: string, signal: AbortSignal): Promise<ShootConnection> {
    const shared = this.#sharedFor(namespace, await this.#options.readKubeconfig(namespace, signal));
    shared.cancelIdle();
    shared.users += 1;
    let isOpen = true;
    return {
      client: shared.connection.client,
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        shared.users -= 1;
        if (shared.users === 0) this.#release(namespace, shared);
      },
    };
  }

  /** Closes all connections. Requests in flight fail. */
  close(): void {
    this.#isClosed = true;
    for (const { connection, cancelIdle } of this.#current.values()) {
      cancelIdle();
      connection.close();
    }
    this.#current.clear();
  }

  #sharedFor(namespace: string, kubeconfig: string): Shared {
    const known = this.#current.get(namespace);
    if (known?.kubeconfig === kubeconfig) return known;
    const connection = this.#options.connector.clientFor(kubeconfig);
    const created: Shared = { kubeconfig, connection, users: 0, cancelIdle: () => undefined };
    if (!this.#isClosed) this.#current.set(namespace, created);
    if (known?.users === 0) this.#release(namespace, known);
    return created;
  }

  /** Closes a connection without users: at once if it was replaced, else after the idle time. */
  #release(namespace: string, shared: Shared): void {
    const { clock, idleMs } = this.#options;
    shared.cancelIdle();
    if (this.#current.get(namespace) !== shared) {
      shared.connection.close();
      return;
    }
    shared.cancelIdle = clock.timer(idleMs, () => {
      this.#current.delete(namespace);
      shared.connection.close();
    });
  }
}
