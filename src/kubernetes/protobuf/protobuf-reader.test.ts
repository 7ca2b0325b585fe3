import { describe, expect, it } from 'vitest';
import { envelope, message, readList, text } from '../../../test/doubles/protobuf.ts';
import { integerField as integer } from '../../../simulator/apiserver/protobuf.ts';
import { listNodes } from '../../gardener/node.ts';
import { listNodeLeases } from '../api/lease.ts';
import { ProtobufError } from './protobuf.ts';

const readNodeList = (bytes: Uint8Array) => readList(listNodes, bytes);
const readLeaseList = (bytes: Uint8Array) => readList(listNodeLeases, bytes);

it('rule 11: an item without a name is refused', () => {
  expect(() => readNodeList(envelope('v1', 'NodeList', message(2, message(1, text(2, 'namespace')))))).toThrow(
    'items[0].metadata.name: expected a name',
  );
});

describe('rule 11: leases', () => {
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

  it('rule 11: a time beyond the year 9999 is malformed', () => {
    expect(() => readLeaseList(withTime(integer(1, 253_402_300_800)))).toThrow(ProtobufError);
  });
});

const item = message(2, message(1, text(1, 'a')));

it.each([
  ['another kind', envelope('v1', 'PodList', item), 'expected NodeList of v1'],
  ['another version', envelope('v2', 'NodeList', item), 'expected NodeList of v1'],
  ['an encoded object', Uint8Array.from([...envelope('v1', 'NodeList', item), ...text(3, 'gzip')]), 'once more'],
])('rule 11: an envelope of %s is malformed', (_, bytes, problem) => {
  expect(() => readNodeList(bytes)).toThrow(problem);
  expect(() => readNodeList(bytes)).toThrow(ProtobufError);
});
