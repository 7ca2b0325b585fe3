import { describe, expect, it } from 'vitest';
import { listNodeLeaseExpiries } from '../../src/care/calls.ts';
import { listNodeHealth, listNodes, listWorkerNodes } from '../../src/gardener/node.ts';
import { listNodeLeases } from '../../src/kubernetes/api/lease.ts';
import { readProtobufStatus } from '../../src/kubernetes/protobuf/kube-protobuf.ts';
import { readReference } from './fixture.ts';

// The bytes are what upstream's own serializer makes of the object that is also there as JSON.

describe('what upstream writes as protobuf is read as its JSON is', () => {
  it.each([
    ['nodes of the prober', 'NodeList', listNodes],
    ['nodes of care', 'NodeList', listNodeHealth],
    ['worker nodes of care', 'NodeList', listWorkerNodes],
    ['leases of the prober', 'LeaseList', listNodeLeases],
    ['leases of care', 'LeaseList', listNodeLeaseExpiries],
  ] as const)('%s', (_name, kind, call) => {
    const { object, protobuf } = readReference(kind);
    const views: readonly unknown[] = call.decode(object);
    expect(views).toHaveLength(1);
    expect(call.protobuf?.(protobuf)).toEqual(views);
  });

  it('a Status', () => {
    const { object, protobuf } = readReference('Status');
    const status = readProtobufStatus(protobuf);
    expect(Object.keys(status ?? {})).toEqual(['apiVersion', 'kind', 'message', 'reason', 'code', 'details']);
    expect(object).toMatchObject({ ...status });
  });
});
