// Runs in its own process: API servers of shoots behind one HTTPS port, distinguished by the first path segment. Some are healthy, some hostile.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { formatMicroTime } from '../../../simulator/apiserver/time.ts';
import { createCertificates } from '../../../simulator/network/certificates.ts';
import { type Answers, answerOrders } from '../../envtest/served.ts';

/** Its orders. */
export interface HostileShoots extends Answers {
  /** `hostilities`: the ways to be hostile, each of which is the first segment of a hostile shoot's path. */
  readonly ready: { readonly url: string; readonly ca: string; readonly hostilities: readonly string[] };
  /** Number of requests so far, by path. */
  readonly counts: Readonly<Record<string, number>>;
}

const mebibyte = 1024 * 1024;
const blockBytes = 64 * 1024;
const json = { 'content-type': 'application/json' };
const protobuf = { 'content-type': 'application/vnd.kubernetes.protobuf' };
const counts = new Map<string, number>();

const repeated = (piece: string | Buffer): Buffer => {
  const bytes = Buffer.from(piece);
  return Buffer.concat(Array.from({ length: Math.ceil(blockBytes / bytes.length) }, () => bytes));
};

/** Sends `piece` repeatedly, until `bytes` are sent or the client has closed the connection. */
const pour = async (response: ServerResponse, piece: string | Buffer, bytes: number): Promise<void> => {
  const block = repeated(piece);
  let wake = (): void => undefined;
  response.on('drain', () => wake());
  response.once('close', () => wake());
  for (let sent = 0; sent < bytes && !response.closed; sent += block.length) {
    const drained = new Promise<void>((resolve) => {
      wake = resolve;
    });
    if (!response.write(block)) await drained;
  }
};

const leaseList = (): string => {
  const renewTime = formatMicroTime(Date.now());
  const items = ['a', 'b', 'c'].map((name) => ({
    metadata: { name },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime },
  }));
  return JSON.stringify({ kind: 'LeaseList', apiVersion: 'coordination.k8s.io/v1', metadata: {}, items });
};

const nodeList = JSON.stringify({ kind: 'NodeList', apiVersion: 'v1', metadata: {}, items: [] });

type Answer = (response: ServerResponse, path: string, turn: number) => Promise<void>;

const beWell: Answer = async (response, path) => {
  response.writeHead(200, json);
  if (path === '/version') response.end('{"gitVersion":"v1.34.0"}');
  else response.end(path.endsWith('/nodes') ? nodeList : leaseList());
};

/** The size of about a million leases. The list never ends. */
const millionLeases = 24_000_000;
const tinyLease = '{"metadata":{"name":"n"}},';
const message = (field: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from([field * 8 + 2, body.length]), body]);
const protobufLease = message(2, message(1, message(1, Buffer.from('n'))));
/** The start of a protobuf list: `k8s\0`, the type, and a length of 16 MB. */
const protobufHead = Buffer.concat([
  Buffer.from('k8s\0'),
  message(1, Buffer.concat([message(1, Buffer.from('coordination.k8s.io/v1')), message(2, Buffer.from('LeaseList'))])),
  Buffer.from([0x12, 0x80, 0x80, 0x80, 0x08]),
]);

const hostile: Readonly<Record<string, Answer>> = {
  'tiny-items': async (response) => {
    response.writeHead(200, json).write('[');
    await pour(response, '{},', 16 * mebibyte);
    response.end('{}]');
  },
  huge: async (response) => {
    response.writeHead(200, json).write('[');
    await pour(response, '[[],[],[]],', 240 * mebibyte);
    response.end('[]]');
  },
  'json-leases': async (response, path, turn) => {
    if (path === '/version') return beWell(response, path, turn);
    response.writeHead(200, json).write('{"kind":"LeaseList","metadata":{},"items":[');
    await pour(response, tinyLease, millionLeases);
    response.end('{"metadata":{"name":"n"}}]}');
  },
  'protobuf-leases': async (response, path, turn) => {
    if (path === '/version') return beWell(response, path, turn);
    response.writeHead(200, protobuf).write(protobufHead);
    await pour(response, protobufLease, 16 * mebibyte);
    response.end();
  },
  'deep-or-slow': async (response, path, turn) => {
    if (turn % 4 === 0) {
      response.writeHead(500, json);
      await pour(response, '[', 100 * mebibyte);
      response.end();
    } else if (path === '/version') await beWell(response, path, turn);
    else if (turn % 4 === 2) {
      response.writeHead(200, json);
      response.end(`{"items":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
    } else {
      response.writeHead(200, json);
      const trickle = setInterval(() => response.write(' '), 500);
      await once(response, 'close');
      clearInterval(trickle);
    }
  },
};

const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const [, shoot = '', path = ''] = /^\/([^/?]+)([^?]*)/.exec(request.url ?? '') ?? [];
  const turn = counts.get(`${shoot}${path}`) ?? 0;
  counts.set(`${shoot}${path}`, turn + 1);
  const behave = hostile[shoot] ?? beWell;
  await behave(response, path, turn).catch(() => response.destroy());
};

const { ca, serving } = await createCertificates({ now: Date.now() });
const server = createServer(
  { cert: serving.certificate, key: serving.key },
  (request, response) => void answer(request, response),
);
server.on('tlsClientError', () => undefined);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `https://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
answerOrders<HostileShoots>(
  { url, ca, hostilities: Object.keys(hostile) },
  { counts: () => Object.fromEntries(counts) },
);
