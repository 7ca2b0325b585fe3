import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { envelope, message, readList, text } from '../../../test/doubles/protobuf.ts';
import { integerField as integer } from '../../../simulator/apiserver/protobuf.ts';
import { decodeNode, listNodeHealth, listNodes } from '../../gardener/node.ts';
import { DecodeError, decodeList } from '../api/decode.ts';
import { decodeLease, listNodeLeases } from '../api/lease.ts';
import { readProtobufStatus } from './kube-protobuf.ts';
import { ProtobufError } from './protobuf.ts';

const readNodeList = (bytes: Uint8Array) => readList(listNodes, bytes);
const readLeaseList = (bytes: Uint8Array) => readList(listNodeLeases, bytes);
const listMeta = message(1, text(1, ''), text(2, '7'), text(3, ''));

type Strings = Readonly<Record<string, string>>;

const stringMap = (field: number, map: Strings): readonly Uint8Array[] =>
  Object.entries(map).map(([key, value]) => message(field, text(1, key), text(2, value)));

interface Meta {
  readonly name: string;
  readonly labels: Strings;
  readonly annotations: Strings;
}

const metaBytes = ({ name, labels, annotations }: Meta): Uint8Array =>
  message(
    1,
    text(1, name),
    text(2, ''),
    text(6, '42'),
    integer(7, 3),
    message(8, integer(1, 1_763_686_800)),
    ...stringMap(11, labels),
    ...stringMap(12, annotations),
    message(17, text(1, 'kubelet'), message(7, text(1, '{"f:metadata":{}}'))),
  );

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

interface NodeJson {
  readonly metadata: Meta;
  readonly status: { readonly conditions: readonly Condition[] };
}

const nodeBytes = ({ metadata, status }: NodeJson): Uint8Array =>
  message(
    2,
    metaBytes(metadata),
    message(2, text(1, '100.96.0.0/24'), integer(4, 1)),
    message(
      3,
      message(1, text(1, 'cpu'), message(2, text(1, '4'))),
      ...status.conditions.map(({ type, status: state, reason }) =>
        message(4, text(1, type), text(2, state), message(3, integer(1, 5)), text(5, reason), text(6, 'words')),
      ),
      message(8, text(1, 'image'), integer(2, 30_000_000_000)),
    ),
  );

const nodeList = (nodes: readonly NodeJson[]): Uint8Array =>
  envelope('v1', 'NodeList', listMeta, ...nodes.map(nodeBytes));

const word = fc.oneof(
  fc.constantFrom('worker.gardener.cloud/pool', 'node.machine.sapcloud.io/not-managed-by-mcm', 'True', 'a', ''),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const strings = fc.dictionary(word, word, { maxKeys: 4 });
const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
const metadata = fc.record({ name, labels: strings, annotations: strings });
const condition = fc.record({
  type: fc.oneof(fc.constantFrom('InPlaceUpdate', 'DiskPressure', 'Ready'), word),
  status: fc.oneof(fc.constantFrom('True', 'False', 'Unknown'), word),
  reason: fc.oneof(fc.constantFrom('ReadyForUpdate', 'UpdateFailed'), word),
});
const node = fc.record({ metadata, status: fc.record({ conditions: fc.array(condition, { maxLength: 4 }) }) });

/** Makes items unique: lists drop duplicates, but the JSON is only decoded here. */
const nameOf = (object: { readonly metadata: { readonly name: string } }): string => object.metadata.name;

describe('rule 11: nodes', () => {
  it('rule 11: have the same fields as in JSON', () => {
    fc.assert(
      fc.property(fc.uniqueArray(node, { maxLength: 5, selector: nameOf }), (nodes) => {
        const json = JSON.parse(JSON.stringify({ items: nodes })) as unknown;
        expect(readNodeList(nodeList(nodes))).toEqual(decodeList(decodeNode)(json));
      }),
      { numRuns: 500 },
    );
  });

  it('rule 11: the last of repeated fields counts, as in Go', () => {
    const pools = [{ 'worker.gardener.cloud/pool': 'old' }, { 'worker.gardener.cloud/pool': 'new' }].flatMap((labels) =>
      stringMap(11, labels),
    );
    const item = message(2, message(1, text(1, 'first'), text(1, 'second'), ...pools));
    expect(readNodeList(envelope('v1', 'NodeList', item))).toMatchObject([{ name: 'second', pool: 'new' }]);
  });

  it('rule 11: an item without a name is refused', () => {
    expect(() => readNodeList(envelope('v1', 'NodeList', message(2, message(1, text(2, 'namespace')))))).toThrow(
      'items[0].metadata.name: expected a name',
    );
  });
});

describe('rule 11: leases', () => {
  interface LeaseJson {
    readonly metadata: Meta;
    readonly spec: { readonly renewTime?: string; readonly leaseDurationSeconds: number };
    readonly time: { readonly seconds: number; readonly micros: number } | undefined;
  }

  const leaseBytes = ({ metadata: meta, time }: LeaseJson): Uint8Array =>
    message(
      2,
      metaBytes(meta),
      message(
        2,
        text(1, 'holder'),
        integer(2, 40),
        message(3, integer(1, 1), integer(2, 0)),
        ...(time === undefined ? [] : [message(4, integer(1, time.seconds), integer(2, time.micros * 1_000))]),
        integer(5, 0),
      ),
    );

  const lease: fc.Arbitrary<LeaseJson> = fc
    .record({
      metadata,
      time: fc.option(
        fc.record({ seconds: fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }), micros: fc.nat(999_999) }),
        { nil: undefined },
      ),
    })
    .map(({ metadata: meta, time }) => {
      if (time === undefined) return { metadata: meta, time, spec: { leaseDurationSeconds: 40 } };
      const day = new Date(time.seconds * 1_000).toISOString().slice(0, 19);
      return {
        metadata: meta,
        time,
        spec: { leaseDurationSeconds: 40, renewTime: `${day}.${String(time.micros).padStart(6, '0')}Z` },
      };
    });

  it('rule 11: have the same fields as in JSON', () => {
    fc.assert(
      fc.property(fc.uniqueArray(lease, { maxLength: 5, selector: nameOf }), (leases) => {
        const json = JSON.parse(JSON.stringify({ items: leases })) as unknown;
        const bytes = envelope('coordination.k8s.io/v1', 'LeaseList', listMeta, ...leases.map(leaseBytes));
        expect(readLeaseList(bytes)).toEqual(decodeList(decodeLease)(json));
      }),
      { numRuns: 500 },
    );
  });

  it('rule 11: a name that is not UTF-8 is malformed', () => {
    const bytes = envelope(
      'coordination.k8s.io/v1',
      'LeaseList',
      message(2, message(1, message(1, Uint8Array.of(0xe9)))),
    );
    expect(() => readLeaseList(bytes)).toThrow(ProtobufError);
  });

  it('rule 11: the last of repeated fields counts, as in Go', () => {
    const spec = (seconds: number) => message(2, message(4, integer(1, seconds)));
    const metas = [message(1, text(1, 'a'), text(1, 'b')), message(1, text(2, 'kube-node-lease'))];
    const item = message(2, ...metas, spec(1), spec(2), message(2, integer(2, 40)));
    const bytes = envelope('coordination.k8s.io/v1', 'LeaseList', item);
    expect(readLeaseList(bytes)).toEqual([{ name: 'b', renewTime: 2_000_000, durationSeconds: 40 }]);
  });

  const withTime = (...time: readonly Uint8Array[]): Uint8Array =>
    envelope(
      'coordination.k8s.io/v1',
      'LeaseList',
      message(2, message(1, text(1, 'a')), message(2, message(4, ...time))),
    );

  it("rule 11: Go's zero time is undefined", () => {
    expect(readLeaseList(withTime())).toEqual([{ name: 'a' }]);
    expect(readLeaseList(withTime(integer(1, 0), integer(2, 0)))).toEqual([{ name: 'a', renewTime: 0 }]);
  });

  it.each([
    ['beyond the year 9999', integer(1, 253_402_300_800)],
    ['with negative nanoseconds', integer(2, -1)],
    ['with too many nanoseconds', integer(2, 1_000_000_000)],
  ])('rule 11: a time %s is malformed', (_, bytes) => {
    expect(() => readLeaseList(withTime(bytes))).toThrow(ProtobufError);
  });
});

describe('rule 11: the envelope', () => {
  const item = message(2, message(1, text(1, 'a')));
  const [, , , , ...unmarked] = envelope('v1', 'NodeList', item);

  it.each([
    ['nothing', new Uint8Array(), 'not a Kubernetes message'],
    ['JSON', new TextEncoder().encode('{"items":[]}'), 'not a Kubernetes message'],
    ['a message without the mark', Uint8Array.from(unmarked), 'not a Kubernetes message'],
    ['the mark alone', Uint8Array.from([0x6b, 0x38, 0x73, 0]), 'without an object'],
    ['another kind', envelope('v1', 'PodList', item), 'expected NodeList of v1'],
    ['another version', envelope('v2', 'NodeList', item), 'expected NodeList of v1'],
    ['a Status', envelope('v1', 'Status'), 'expected NodeList of v1'],
    ['an encoded object', Uint8Array.from([...envelope('v1', 'NodeList', item), ...text(3, 'gzip')]), 'once more'],
  ])('rule 11: %s is malformed', (_, bytes, problem) => {
    expect(() => readNodeList(bytes)).toThrow(problem);
    expect(() => readNodeList(bytes)).toThrow(ProtobufError);
  });
});

describe('rule 11: a Status', () => {
  it('rule 11: has the same fields as in JSON', () => {
    const cause = message(4, text(1, 'FieldValueInvalid'), text(2, 'must be more'), text(3, 'spec.x'));
    const details = message(5, text(1, 'a'), text(2, ''), text(3, 'leases'), cause, integer(5, 3), text(6, 'uid'));
    const status = [listMeta, text(2, 'Failure'), text(3, 'no'), text(4, 'Invalid'), details, integer(6, 422)];
    expect(readProtobufStatus(envelope('v1', 'Status', ...status))).toEqual({
      apiVersion: 'v1',
      kind: 'Status',
      message: 'no',
      reason: 'Invalid',
      code: 422,
      details: {
        causes: [{ reason: 'FieldValueInvalid', message: 'must be more', field: 'spec.x' }],
        retryAfterSeconds: 3,
      },
    });
    expect(readProtobufStatus(envelope('v1', 'NodeList'))).toBeUndefined();
  });
});

describe('rule 11: arbitrary bytes', () => {
  const readers = [
    readNodeList,
    readLeaseList,
    (bytes: Uint8Array) => readList(listNodeHealth, bytes),
    readProtobufStatus,
  ];

  /** Returns true if each reader returns a value, throws a ProtobufError, or throws a DecodeError for a valid message of another shape. */
  const isHandled = (bytes: Uint8Array): boolean =>
    readers.every((read) => {
      try {
        read(bytes);
        return true;
      } catch (error) {
        return error instanceof ProtobufError || error instanceof DecodeError;
      }
    });

  const marked = (bytes: Uint8Array): Uint8Array => Uint8Array.from([0x6b, 0x38, 0x73, 0, ...bytes]);

  it('rule 11: random ones are a value or one of our errors', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom('NodeList', 'Status'), (bytes, kind) => {
        expect(isHandled(bytes)).toBe(true);
        expect(isHandled(marked(bytes))).toBe(true);
        expect(isHandled(envelope('v1', kind, bytes))).toBe(true);
        expect(isHandled(envelope('v1', kind, message(2, bytes)))).toBe(true);
        expect(isHandled(envelope('coordination.k8s.io/v1', 'LeaseList', message(2, bytes)))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
