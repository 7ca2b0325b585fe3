import type { Clock, ShootConnection, ShootConnector } from '../ports/index.ts';

export interface ShootConnectionsOptions {
  readonly clock: Clock;
  readonly connector: ShootConnector;
  /** The kubeconfig that reaches the shoot now; it changes when credentials are rotated. */
  readonly readKubeconfig: (namespace: string, signal: AbortSignal) => Promise<string>;
  /** How long a connection that nobody uses is kept, in milliseconds. */
  readonly idleMs: number;
}

/** One connection per shoot, whatever the number of runs, objects and controllers that use it. */
export interface ShootConnections {
  /** To the shoot whose control plane is in `namespace`. To be closed by each user; it is kept open for the next. */
  connect(namespace: string, signal: AbortSignal): Promise<ShootConnection>;
  /** Closes all of them; requests under way fail. */
  close(): void;
}

interface Kept {
  readonly kubeconfig: string;
  readonly connection: ShootConnection;
  users: number;
  /** Nobody gets it any more: it closes with its last user. */
  retired: boolean;
  cancelIdle: () => void;
}

export const createShootConnections = (options: ShootConnectionsOptions): ShootConnections => {
  const { clock, connector, readKubeconfig, idleMs } = options;
  const kept = new Map<string, Kept>();
  let closed = false;

  const retire = (namespace: string, entry: Kept): void => {
    if (kept.get(namespace) === entry) kept.delete(namespace);
    entry.retired = true;
    entry.cancelIdle();
    if (entry.users === 0) entry.connection.close();
  };

  const release = (namespace: string, entry: Kept): void => {
    entry.users -= 1;
    if (entry.users > 0) return;
    if (entry.retired) entry.connection.close();
    else entry.cancelIdle = clock.timer(idleMs, () => retire(namespace, entry));
  };

  const open = (kubeconfig: string): ShootConnection => {
    const connection = connector.connect(kubeconfig);
    let isOpen = true;
    return {
      client: connection.client,
      close: () => {
        if (isOpen) connection.close();
        isOpen = false;
      },
    };
  };

  const entryFor = (namespace: string, kubeconfig: string): Kept => {
    const known = kept.get(namespace);
    if (known?.kubeconfig === kubeconfig) return known;
    if (known !== undefined) retire(namespace, known);
    const entry: Kept = {
      kubeconfig,
      connection: open(kubeconfig),
      users: 0,
      retired: closed,
      cancelIdle: () => undefined,
    };
    if (!closed) kept.set(namespace, entry);
    return entry;
  };

  return {
    connect: async (namespace, signal) => {
      const entry = entryFor(namespace, await readKubeconfig(namespace, signal));
      entry.cancelIdle();
      entry.users += 1;
      let isOpen = true;
      return {
        client: entry.connection.client,
        close: () => {
          if (isOpen) release(namespace, entry);
          isOpen = false;
        },
      };
    },
    close: () => {
      closed = true;
      for (const [namespace, entry] of [...kept]) {
        retire(namespace, entry);
        entry.connection.close();
      }
    },
  };
};
