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

/** A connection to a shoot, with a count of its users. */
class SharedConnection {
  readonly kubeconfig: string;
  readonly #connection: ShootConnection;
  #users = 0;
  #isClosed = false;
  /** True once the connection gets no new users and closes after its last one. */
  #isDraining: boolean;
  #cancelIdle = (): void => undefined;

  constructor(kubeconfig: string, connection: ShootConnection, isDraining: boolean) {
    this.kubeconfig = kubeconfig;
    this.#connection = connection;
    this.#isDraining = isDraining;
  }

  /** Adds a user. Calls `onUnused` when the last user has closed the connection, unless it is draining. */
  use(onUnused: () => void): ShootConnection {
    this.#cancelIdle();
    this.#users += 1;
    let isOpen = true;
    return {
      client: this.#connection.client,
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#users -= 1;
        if (this.#users > 0) return;
        if (this.#isDraining) this.close();
        else onUnused();
      },
    };
  }

  drainAfter(clock: Clock, ms: number, onDrain: () => void): void {
    this.#cancelIdle = clock.timer(ms, onDrain);
  }

  drain(): void {
    this.#isDraining = true;
    this.#cancelIdle();
    if (this.#users === 0) this.close();
  }

  close(): void {
    if (!this.#isClosed) this.#connection.close();
    this.#isClosed = true;
  }
}

/** Shares one connection per shoot among all runs, objects and controllers. */
export class ShootConnections {
  readonly #options: ShootConnectionsOptions;
  readonly #shared = new Map<string, SharedConnection>();
  #isClosed = false;

  constructor(options: ShootConnectionsOptions) {
    this.#options = options;
  }

  /** Connects to the shoot whose control plane is in `namespace`. Each user must close its result; the connection itself stays open for later users. */
  async connect(namespace: string, signal: AbortSignal): Promise<ShootConnection> {
    const { clock, idleMs, readKubeconfig } = this.#options;
    const shared = this.#sharedFor(namespace, await readKubeconfig(namespace, signal));
    return shared.use(() => shared.drainAfter(clock, idleMs, () => this.#drain(namespace, shared)));
  }

  /** Closes all connections. Requests in flight fail. */
  close(): void {
    this.#isClosed = true;
    for (const [namespace, shared] of [...this.#shared]) {
      this.#drain(namespace, shared);
      shared.close();
    }
  }

  #sharedFor(namespace: string, kubeconfig: string): SharedConnection {
    const known = this.#shared.get(namespace);
    if (known?.kubeconfig === kubeconfig) return known;
    if (known !== undefined) this.#drain(namespace, known);
    const connection = this.#options.connector.clientFor(kubeconfig);
    const created = new SharedConnection(kubeconfig, connection, this.#isClosed);
    if (!this.#isClosed) this.#shared.set(namespace, created);
    return created;
  }

  #drain(namespace: string, shared: SharedConnection): void {
    if (this.#shared.get(namespace) === shared) this.#shared.delete(namespace);
    shared.drain();
  }
}
