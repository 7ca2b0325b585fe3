import { describe, expect, it } from 'vitest';
import { buildNode } from '../../test/doubles/builders.ts';
import { listNodeLeases } from '../kubernetes/api/lease.ts';
import { listMachines } from './machine.ts';
import { listNodes } from './node.ts';

describe('calls of a probe run', () => {
  it('list leases in one page and without resourceVersion: a cached list would look like an outage', () => {
    expect(listNodeLeases).toMatchObject({
      method: 'GET',
      path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    });
    for (const call of [listNodeLeases, listNodes, listMachines('a')]) {
      expect(call.query).toBeUndefined();
      expect(call.body).toBeUndefined();
    }
  });

  it('refuse a list of another kind: nodes look like leases that nobody renews', () => {
    const nodeList = {
      apiVersion: 'v1',
      kind: 'NodeList',
      items: [buildNode({ name: 'a' }), buildNode({ name: 'b' })],
    };
    expect(listNodes.decode(nodeList)).toHaveLength(2);
    for (const call of [listNodeLeases, listMachines('a')]) {
      expect(() => call.decode(nodeList)).toThrow('kind: expected');
    }
    expect(() => listNodes.decode({ ...nodeList, kind: 'LeaseList' })).toThrow('kind: expected NodeList');
  });
});
