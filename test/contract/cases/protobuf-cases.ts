import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { listNodes } from '../../../src/gardener/node.ts';
import type { Call } from '../../../src/kubernetes/api/call.ts';
import { listNodeLeases } from '../../../src/kubernetes/api/lease.ts';
import { readList } from '../../doubles/protobuf.ts';
import type { Api } from './api.ts';
import { topic } from './expectations.ts';
import { lease, node } from './fixtures.ts';

const { ConfigMap, Lease, Machine, Node } = simKinds;

const protobuf = 'application/vnd.kubernetes.protobuf';
const preferred = `${protobuf},application/json`;

interface Named {
  readonly name: string;
}

/** Reads the same list as protobuf and as JSON, with the program's own decoders. */
const readBoth = async <T extends Named>(api: Api, path: string, call: Call<readonly T[]>) => {
  const [binary, text] = [await api.send('GET', path, { accept: preferred }), await api.get(path)];
  expect([binary.headers['content-type'], text.headers['content-type']]).toEqual([protobuf, 'application/json']);
  const isOurs = ({ name }: Named): boolean => name.startsWith(api.namespace);
  return { protobuf: readList(call, binary.bytes).filter(isOurs), json: call.decode(text.json).filter(isOurs) };
};

export const protobufCases = topic('protobuf', {
  'leases equal their JSON': async (api) => {
    const named = (name: string, spec: object) => lease(`${api.namespace}-${name}`, { ...spec });
    await api.create(api.at(Lease), named('bare', {}));
    await api.create(api.at(Lease), named('early', { renewTime: '1970-01-01T00:00:00.000001Z' }));
    await api.create(api.at(Lease), named('usual', { holderIdentity: 'a', renewTime: '2026-11-21T10:20:30.123456Z' }));
    const read = await readBoth(api, api.at(Lease), listNodeLeases);
    expect(read.protobuf).toEqual(read.json);
    expect(read.json).toHaveLength(3);
  },

  'nodes equal their JSON': async (api) => {
    const name = (suffix: string): string => `${api.namespace}-${suffix}`;
    const labels = { 'worker.gardener.cloud/pool': 'worker-a' };
    const annotations = { 'node.machine.sapcloud.io/not-managed-by-mcm': '1', other: 'ä 🌍' };
    await api.create(api.at(Node), node(name('bare')));
    const taints = [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }];
    await api.create(api.at(Node), { metadata: { name: name('pool'), labels, annotations }, spec: { taints } });
    const conditions = [{ type: 'KernelDeadlock', status: 'True', reason: 'x', message: 'y' }];
    await api.create(api.at(Node), node(name('ill')));
    await api.patch(api.at(Node, name('ill'), 'status'), { status: { conditions } });
    const read = await readBoth(api, api.at(Node), listNodes);
    expect(read.protobuf).toEqual(read.json);
    expect(read.json.map(({ leaving }) => leaving)).toEqual([false, false, true]);
  },

  'not if JSON is preferred, nor for kinds without protobuf': async (api) => {
    const cases = [
      [api.at(Lease), `application/json,${protobuf}`],
      [api.at(Machine), preferred],
    ] as const;
    for (const [path, accept] of cases) {
      const reply = await api.send('GET', path, { accept });
      expect([path, accept, reply.headers['content-type']]).toEqual([path, accept, 'application/json']);
    }
    expect((await api.get(api.at(ConfigMap))).headers['content-type']).toBe('application/json');
  },
});
