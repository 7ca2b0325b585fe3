import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { clusterAt, kubeconfigOf } from '../../test/doubles/kubeconfig.ts';
import { createCertificates } from '../../simulator/network/certificates.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { temporaryDirectory } from '../../test/doubles/temporary-directory.ts';
import { startTestServer } from '../../test/doubles/test-server.ts';
import type { Call } from '../kubernetes/api/call.ts';
import { WriteTracker, createKubeClient } from '../kubernetes/client/index.ts';
import { createElection } from './leadership.ts';
import { findSeed } from './connections.ts';

const certificates = await createCertificates({ now: Date.now() });

const ordinary: Call<unknown> = { method: 'GET', path: '/api', decode: (json) => json };
const { signal } = new AbortController();

/** An API server that responds to requests for its Lease, and never to others. */
const createLeaseServer = () => {
  /** Client port of each renewal. */
  const renewals: number[] = [];
  const hung: ServerResponse[] = [];
  let lease: { readonly metadata: object } | undefined;
  const store = async (request: IncomingMessage, response: ServerResponse, version: number): Promise<void> => {
    const body = JSON.parse(await text(request)) as { readonly metadata: object };
    lease = { ...body, metadata: { ...body.metadata, uid: 'u', resourceVersion: String(version) } };
    response.end(JSON.stringify(lease));
  };
  const handler: RequestListener = (request, response) => {
    const isLease = request.url?.includes('/leases') === true;
    if (isLease && request.method === 'PUT') renewals.push(request.socket.remotePort ?? 0);
    if (!isLease) hung.push(response);
    else if (request.method !== 'GET') void store(request, response, renewals.length + 1);
    else if (lease === undefined) response.writeHead(404).end('{}');
    else response.end(JSON.stringify(lease));
  };
  return { handler, renewals, hung };
};

/** Starts a process that leads on a seed, which it connects to with an operator's kubeconfig. */
const lead = async () => {
  const { certificate, key } = certificates.serving;
  const server = createLeaseServer();
  const api = await startTestServer({ tls: { cert: certificate, key }, handler: server.handler });
  const kubeconfig = join(temporaryDirectory(), 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigOf(clusterAt(`https://localhost:${api.port}`, certificates.ca)));
  const clock = createVirtualClock();
  const logger = createRecordingLogger();
  const connect = await findSeed({ flags: { kubeconfig }, env: {}, logger, clock, userAgent: 'test' });
  const [transport, forLease] = [connect(), connect()];
  const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
  const { leadership, runnables } = createElection({ enabled: true, namespace: 'garden', ...times }, 'x', {
    clock,
    random: { next: () => 0.5 },
    logger,
    kube: forLease,
    writes: new WriteTracker(),
  });
  for (const connection of [transport, forLease]) onTestFinished(() => connection.close());
  const stop = new AbortController();
  const started = new Promise<void>((resolve) => {
    const ended = runnables[0]!.run(stop.signal, resolve).catch(() => undefined);
    onTestFinished(async () => {
      stop.abort(new Error('stop'));
      await ended;
    });
  });
  await started;
  const client = createKubeClient({ kube: transport, clock });
  /** Sends a request that does not concern the Lease; it times out. */
  const ask = () => client.call(ordinary, { signal, timeoutMs: 3_000 }).catch((error: unknown) => error);
  return { clock, server, mayWrite: () => leadership.mayWrite(), ask };
};

it('rule 26: renewals go on over one connection while all other requests hang and time out', async () => {
  const { clock, server, ask, mayWrite } = await lead();
  /** Waits until `isSo` returns true. Traffic on sockets takes no virtual time. */
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await clock.settle();
  };
  for (let count = 1; count <= 8; count += 1) {
    const asked = Array.from({ length: 20 }, ask);
    await until(() => server.hung.length === 20 * count);
    await clock.advance(2_000);
    await until(() => server.renewals.length === 2 * count - 1);
    await clock.advance(2_000);
    await until(() => server.renewals.length === 2 * count);
    for (const result of await Promise.all(asked)) expect(result).toMatchObject({ code: 'Timeout' });
  }
  expect(new Set(server.renewals).size).toBe(1);
  expect(mayWrite()).toBe(true);
});
