import { createJsonListReader } from '../src/kubernetes/client/json-list.ts';

// Measures the CPU time of reading a JSON list: as a whole, and item by item as the client does. Start it with V8's options to compare them.

const mebibyte = 1024 * 1024;
const pieceBytes = 64 * 1024;
const rounds = 6;

const lease = {
  metadata: { name: 'node-abcdef', namespace: 'kube-node-lease', uid: '1b4e28ba-2fa1-11d2-883f-0016d3cca427' },
  spec: { holderIdentity: 'node-abcdef', leaseDurationSeconds: 40, renewTime: '2026-11-22T00:00:00.000000Z' },
};

const listOf = (item: object, bytes: number): Buffer => {
  const text = JSON.stringify(item);
  const items = Array<string>(Math.floor(bytes / (text.length + 1))).fill(text);
  return Buffer.from(`{"metadata":{},"items":[${items.join(',')}]}`);
};

const readByItem = (body: Buffer): number => {
  let longestMs = 0;
  const reader = createJsonListReader({ kind: undefined, itemBytes: mebibyte, item: () => undefined });
  for (let at = 0; at < body.length; at += pieceBytes) {
    // CPU time of this thread only, so that other load on the machine does not count.
    const before = process.threadCpuUsage();
    reader.feed(body.subarray(at, at + pieceBytes));
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
  }
  return longestMs;
};

/** CPU milliseconds of all threads, including the garbage collector's: the minimum of all rounds. */
const cost = (read: () => unknown): number => {
  const costs = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage();
    read();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.round(Math.min(...costs));
};

const leases = listOf(lease, 4 * mebibyte);
const tiny = listOf({}, 16 * mebibyte);
const figures = {
  'leases, whole, ms': cost(() => JSON.parse(leases.toString())),
  'leases, item by item, ms': cost(() => readByItem(leases)),
  'longest piece, ms': Math.min(...Array.from({ length: rounds }, () => readByItem(leases))).toFixed(1),
  'tiny items, whole, ms': cost(() => JSON.parse(tiny.toString())),
};
process.stdout.write(`${process.execArgv.join(' ')} ${JSON.stringify(figures)}\n`);
