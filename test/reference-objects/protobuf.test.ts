import { describe, expect, it } from 'vitest';
import { listNodeLeaseExpiries } from '../../src/care/observe/shoot.ts';
import { listNodeHealth, listNodes, probedNodeFields } from '../../src/gardener/node.ts';
import { listNodeLeases } from '../../src/kubernetes/api/lease.ts';
import { ProtobufListReader, readFields, readProtobufStatus } from '../../src/kubernetes/protobuf/index.ts';
import { readList } from '../doubles/protobuf.ts';
import { readReference } from './fixture.ts';

interface PlainNode {
  readonly metadata: { readonly deletionTimestamp: string };
  readonly spec: { readonly taints: readonly { readonly key: string }[] };
}

// Upstream's serializer has encoded the bytes from the object that the fixture also contains as JSON.

describe('protobuf of upstream is read like its JSON', () => {
  it.each([
    ['nodes of the prober', 'NodeList', listNodes],
    ['nodes of care', 'NodeList', listNodeHealth],
    ['leases of the prober', 'LeaseList', listNodeLeases],
    ['leases of care', 'LeaseList', listNodeLeaseExpiries],
  ] as const)('%s', (_name, kind, call) => {
    const { object, protobuf } = readReference(kind);
    const views: readonly unknown[] = call.decode(object);
    expect(views).toHaveLength(1);
    expect(readList<readonly unknown[]>(call, protobuf)).toEqual(views);
  });

  it('the fields that show that a node is about to be deleted', () => {
    const { object, protobuf } = readReference('NodeList');
    const [{ metadata, spec }] = (object as { readonly items: readonly [PlainNode] }).items;
    const drafts: unknown[] = [];
    const reader = new ProtobufListReader({
      ...{ apiVersion: 'v1', kind: 'NodeList', limitBytes: Infinity, fieldBytes: Infinity },
      item: (cursor, end) => {
        drafts.push(readFields(cursor, end, { fields: probedNodeFields.fields, draft: probedNodeFields.empty() }));
      },
    });
    reader.feed(protobuf);
    const { deletionTimestamp } = metadata;
    expect(drafts).toMatchObject([{ deletionTimestamp, taints: spec.taints.map(({ key }) => ({ key })) }]);
    expect([deletionTimestamp, spec.taints.length]).toEqual([expect.any(String), 1]);
  });

  it('a Status', () => {
    const { object, protobuf } = readReference('Status');
    const status = readProtobufStatus(protobuf);
    expect(Object.keys(status ?? {})).toEqual(['apiVersion', 'kind', 'message', 'reason', 'code', 'details']);
    expect(object).toMatchObject({ ...status });
  });
});
