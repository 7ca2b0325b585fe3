import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy between a program and an API server that fails like a firewall that loses its state: bytes pass or are silently dropped. */
export interface SwallowingProxy {
  readonly port: number;
  /** Breaks new connections at once. */
  refuseNew(): void;
  /** Drops all bytes of open and new connections, in both directions. They stay open, and nothing responds. */
  cutOff(): void;
  /** Breaks all open connections, and lets new ones pass. */
  heal(): void;
  stop(): Promise<void>;
}

export const startSwallowingProxy = async (to: {
  readonly host: string;
  readonly port: number;
}): Promise<SwallowingProxy> => {
  const sockets = new Set<Socket>();
  let pairs: { isSwallowed: boolean }[] = [];
  let toNew: 'pass' | 'refuse' | 'swallow' = 'pass';

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  };
  const server = createServer((near) => {
    keep(near);
    if (toNew === 'refuse') near.destroy();
    if (toNew === 'swallow') near.resume();
    if (toNew !== 'pass') return;
    const far = connect(to);
    keep(far);
    const pair = { isSwallowed: false };
    pairs.push(pair);
    const pass = (from: Socket, into: Socket): void => {
      from.on('data', (chunk) => {
        if (!pair.isSwallowed) into.write(chunk);
      });
      from.once('close', () => {
        if (!pair.isSwallowed) into.destroy();
      });
    };
    pass(near, far);
    pass(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const breakAll = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    port: (server.address() as AddressInfo).port,
    refuseNew: () => {
      toNew = 'refuse';
    },
    cutOff: () => {
      toNew = 'swallow';
      for (const pair of pairs) pair.isSwallowed = true;
      pairs = [];
    },
    heal: () => {
      toNew = 'pass';
      breakAll();
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      breakAll();
      await closed;
    },
  };
};
