import type { KubeClient } from '../kubernetes/api/kube.ts';
import type { ShootConnection } from '../kubernetes/api/shoot-connection.ts';

/** The connection to a shoot that the checks of one run share. */
export interface ShootLink {
  /** Connects at the first call. If that fails, all checks of the run that need the shoot fail. */
  readonly client: () => Promise<KubeClient>;
  /** Aborts an attempt to connect, and closes the connection, even if it is established later. */
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
