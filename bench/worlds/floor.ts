// Separate process: the floor, a bare loop that sends the requests of a probe and discards the responses after reading them to their end.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { systemClock } from '../../src/process/clock.ts';
import { systemRandom } from '../../src/process/random.ts';
import { servedArgs } from '../../test/envtest/served.ts';

/** Port and credentials with which the floor reaches a shoot. */
export interface FloorEndpoint {
  readonly port: number;
  readonly authorization: string;
}

export interface FloorEndpoints {
  /** Certificate authority of the servers, PEM. */
  readonly ca: string;
  readonly doors: readonly FloorEndpoint[];
}

/** Arguments of the process. */
export interface FloorInit {
  /** Paths of files that each hold `FloorEndpoints` as JSON. */
  readonly files: readonly string[];
  readonly intervalMs: number;
}

const { files, intervalMs } = servedArgs() as FloorInit;
const clock = systemClock();
const random = systemRandom();
const never = new AbortController().signal;
/** The times within which the prober spreads its first runs, and the jitter of the others. */
const [firstWithinMs, jitter] = [5_000, 0.2];

const requests = [
  { path: '/version', accept: 'application/json' },
  {
    path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    accept: 'application/vnd.kubernetes.protobuf,application/json',
  },
];

interface Asked {
  readonly path: string;
  readonly accept: string;
  readonly authorization: string;
}

const get = (socket: TLSSocket, { path, ...headers }: Asked): Promise<void> =>
  new Promise((resolve, reject) => {
    const options = { path, createConnection: () => socket, headers: { ...headers, connection: 'keep-alive' } };
    const exchange = request(options, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path} was answered with ${String(response.statusCode)}`));
      response.once('end', resolve).resume();
    });
    exchange.once('error', reject).end();
  });

/** Probes one shoot repeatedly, each time over a new connection that resumes the TLS session. */
const loop = async ({ port, authorization }: FloorEndpoint, secureContext: SecureContext): Promise<never> => {
  let session: Buffer | undefined;
  await clock.sleep(random.next() * firstWithinMs, never);
  while (true) {
    const options = { host: '127.0.0.1', port, servername: '', secureContext };
    const socket = connect({ ...options, ...(session === undefined ? {} : { session }) });
    socket.on('session', (ticket) => (session = ticket));
    await once(socket, 'secureConnect');
    for (const { path, accept } of requests) await get(socket, { path, accept, authorization });
    socket.destroy();
    await clock.sleep(intervalMs * (1 + jitter * random.next()), never);
  }
};

process.once('disconnect', () => process.exit());
for (const file of files) {
  const { ca, doors } = JSON.parse(readFileSync(file, 'utf8')) as FloorEndpoints;
  for (const door of doors) void loop(door, createSecureContext({ ca }));
}
