import { describe, expect, it } from 'vitest';
import { envelope, message, readList, text } from '../../../test/doubles/protobuf.ts';
import { integerField as integer } from '../../../simulator/apiserver/protobuf.ts';
import { listNodes } from '../../gardener/node.ts';
import { listNodeLeases } from '../api/lease.ts';
import { ProtobufError } from './protobuf.ts';

const readNodeList = (bytes: Uint8Array) => readList(listNodes, bytes);
const readLeaseList = (bytes: Uint8Array) => readList(listNodeLeases, bytes);

const stringMap = (field: number, map: Readonly<Record<string, string>>): readonly Uint8Array[] =>
  Object.entries(map).map(([key, value]) => message(field, text(1, key), text(2, value)));

describe('rule 11: nodes', () => {
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
