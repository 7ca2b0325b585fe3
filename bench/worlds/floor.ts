// Separate process: the floor, a bare loop that sends the requests of a probe and discards the responses after reading them to their end.
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, createSecureContext, type TLSSocket } from 'node:tls';
import { type Answers, answerOrders, servedArgs } from '../../test/envtest/served.ts';

/** Arguments of the process. */
export interface FloorInit {
  /** Certificate authority of the servers, PEM. */
  readonly ca: string;
  /** Port of each shoot. */
  readonly ports: readonly number[];
  readonly intervalMs: number;
}

export interface FloorProcess extends Answers {
  readonly ready: null;
  /** Number of probes so far. */
  readonly probes: number;
}

const { ca, ports, intervalMs } = servedArgs() as FloorInit;
let probes = 0;
/** The times within which the prober spreads its first runs, and the jitter of the others. */
const [firstWithinMs, jitter] = [5_000, 0.2];

const requests = [
  { path: '/version', accept: 'application/json' },
  {
    path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    accept: 'application/vnd.kubernetes.protobuf,application/json',
  },
];

const get = (socket: TLSSocket, { path, accept }: (typeof requests)[number]): Promise<void> =>
  new Promise((resolve, reject) => {
    const options = { path, createConnection: () => socket, headers: { accept, connection: 'keep-alive' } };
    const exchange = request(options, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path} was answered with ${String(response.statusCode)}`));
      response.once('end', resolve).resume();
    });
    exchange.once('error', reject).end();
  });

/** Probes one shoot repeatedly, each time over a new connection that resumes the TLS session. */
const loop = async (port: number): Promise<never> => {
  const secureContext = createSecureContext({ ca });
  let session: Buffer | undefined;
  await sleep(Math.random() * firstWithinMs);
  while (true) {
    const socket = connect({ host: '127.0.0.1', port, servername: '', secureContext, session });
    socket.on('session', (ticket) => (session = ticket));
    await once(socket, 'secureConnect');
    for (const each of requests) await get(socket, each);
    socket.destroy();
    probes += 1;
    await sleep(intervalMs * (1 + jitter * Math.random()));
  }
};

for (const port of ports) void loop(port);
answerOrders<FloorProcess>(null, { probes: () => probes });
