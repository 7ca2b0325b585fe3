import type { KubeClient } from '../kubernetes/api/kube.ts';
import type { ShootConnection } from '../kubernetes/api/shoot-connection.ts';

/** What the checks of one run share of the connection to a shoot. */
export interface ShootLink {
  /** Connects when it is first called; where that fails, it fails for all checks of the run. */
  readonly client: () => Promise<KubeClient>;
  /** Ends an attempt to connect, and gives the connection back, even one that is made only after this. */
  close(): void;
}

export const createShootLink = (connect: (signal: AbortSignal) => Promise<ShootConnection>): ShootLink => {
  const end = new AbortController();
  let connection: Promise<ShootConnection> | undefined;
  const open = async (): Promise<ShootConnection> => connect(end.signal);
  return {
    client: async () => {
      connection ??= open();
      return (await connection).client;
    },
    close: () => {
      end.abort(new Error('the run has ended'));
      connection?.then(
        (made) => made.close(),
        () => undefined,
      );
    },
  };
};
