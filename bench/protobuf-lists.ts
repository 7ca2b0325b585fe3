/**
 * Measures how long a list blocks the event loop as JSON and as protobuf: `node bench/protobuf-lists.ts [ITEMS]`. The objects are copies,
 * with other names of the same length, of objects that a real kube-apiserver sent.
 */
import { readFileSync } from 'node:fs';
import { listNodeLeaseExpiries } from '../src/care/calls.ts';
import { listNodes, listWorkerNodes } from '../src/gardener/node.ts';
import type { Call } from '../src/kubernetes/api/call.ts';
import { listNodeLeases } from '../src/kubernetes/api/lease.ts';

const items = Number(process.argv[2] ?? 1_000);
const rounds = 60;

const fixture = (name: string): Buffer =>
  readFileSync(new URL(`../src/kubernetes/client/fixtures/${name}`, import.meta.url));

const varint = (value: number): readonly number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];

const field = (number: number, content: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(content.length)]), content]);

/** Contents of the message's length-delimited fields with that number. Kubernetes lists have no other wire types at the top level. */
const fieldsOf = (message: Uint8Array, number: number): readonly Uint8Array[] => {
  const found: Uint8Array[] = [];
  let at = 0;
  while (at < message.length) {
    const tag = message[at] ?? 0;
    at += 1;
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = message[at] ?? 0;
      at += 1;
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (tag >>> 3 === number) found.push(message.subarray(at, at + length));
    at += length;
  }
  return found;
};

interface Sample {
  readonly name: string;
  readonly call: Call<readonly object[]>;
  readonly json: Buffer;
  readonly protobuf: Buffer;
}

const present = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('the fixtures do not hold what is measured');
  return value;
};

interface Repeated {
  /** Name of the row. */
  readonly name: string;
  /** Name of the fixture that holds the list. */
  readonly list: string;
  /** Name of the object in the list that is copied. */
  readonly object: string;
  readonly call: Call<readonly object[]>;
}

/** Returns a unique name for each item, because items of the same name would count once. */
const nameOf = (index: number, { length }: string): string => index.toString(36).padStart(length, '0');

/** Builds a list that holds only copies of the object. */
const repeat = ({ name, list, object, call }: Repeated): Sample => {
  const parsed = JSON.parse(fixture(`${list}.json`).toString()) as { readonly items: { metadata: { name: string } }[] };
  const index = parsed.items.findIndex(({ metadata }) => metadata.name === object);
  const envelope = fixture(`${list}.pb`).subarray(4);
  const [type, raw] = [present(fieldsOf(envelope, 1)[0]), present(fieldsOf(envelope, 2)[0])];
  const times = <T>(make: (name: string) => T): readonly T[] =>
    Array.from({ length: items }, (_, at) => make(nameOf(at, object)));
  const json = present(parsed.items[index]);
  const item = field(2, present(fieldsOf(raw, 2)[index]));
  const named = times((unique) => {
    const copy = Buffer.from(item);
    copy.write(unique, copy.indexOf(object));
    return copy;
  });
  const renamed = times((unique) => ({ ...json, metadata: { ...json.metadata, name: unique } }));
  return {
    name,
    call,
    json: Buffer.from(JSON.stringify({ ...parsed, items: renamed })),
    protobuf: Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, Buffer.concat(named))]),
  };
};

interface Timing {
  readonly median: number;
  readonly worst: number;
}

const time = (work: () => readonly object[]): Timing => {
  const spans: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    if (work().length !== items) throw new Error('the list was not read whole');
    // The first third of the rounds runs before the code is compiled.
    if (round >= rounds / 3) spans.push(performance.now() - start);
  }
  spans.sort((a, b) => a - b);
  return { median: spans[Math.floor(spans.length / 2)] ?? 0, worst: spans.at(-1) ?? 0 };
};

const samples: readonly Repeated[] = [
  { name: 'nodes', list: 'nodes', object: 'large', call: listNodes },
  { name: 'leases', list: 'leases', object: 'usual', call: listNodeLeases },
  { name: 'nodes of care', list: 'nodes', object: 'large', call: listWorkerNodes },
  { name: 'leases of care', list: 'leases', object: 'usual', call: listNodeLeaseExpiries },
];

const rows = samples.map(repeat).map((sample) => {
  const { call, json, protobuf, name } = sample;
  const read = call.protobuf;
  if (read === undefined) throw new Error(`${name} has no protobuf reader`);
  const asJson = time(() => call.decode(JSON.parse(json.toString('utf8'))));
  const asProtobuf = time(() => read(protobuf));
  return [
    `${items} ${name}`,
    (json.length / 1e6).toFixed(2),
    (protobuf.length / 1e6).toFixed(2),
    asJson.median.toFixed(2),
    asJson.worst.toFixed(2),
    asProtobuf.median.toFixed(2),
    asProtobuf.worst.toFixed(2),
    (asJson.median / asProtobuf.median).toFixed(1),
  ];
});

const heads = ['list', 'JSON MB', 'protobuf MB', 'JSON ms', 'worst', 'protobuf ms', 'worst', 'ratio'];
const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)));
for (const row of [heads, widths.map((width) => '-'.repeat(width)), ...rows]) {
  process.stdout.write(`${row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  ')}\n`);
}
