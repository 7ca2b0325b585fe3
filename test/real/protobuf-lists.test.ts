import { afterAll, beforeAll, expect, it } from 'vitest';
import { judgeKind } from '../../src/config/rules/known-kinds.ts';
import { listNodes } from '../../src/gardener/node.ts';
import { readList, withoutProtobuf } from '../doubles/protobuf.ts';
import type { Call } from '../../src/kubernetes/api/call.ts';
import type { ApiError } from '../../src/kubernetes/api/errors.ts';
import { listNodeLeases } from '../../src/kubernetes/api/lease.ts';
import { staticCredentials, withCredentials } from '../../src/kubernetes/client/auth.ts';
import { createKubeClient } from '../../src/kubernetes/client/client.ts';
import { parseUntrustedKubeconfig } from '../../src/kubernetes/kubeconfig/untrusted.ts';
import { createTransport } from '../../src/kubernetes/transport/transport.ts';
import { systemClock } from '../../src/process/clock.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { describeEnvtest } from '../envtest/gate.ts';

const protobuf = 'application/vnd.kubernetes.protobuf';
const nodes = '/api/v1/nodes';
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

const condition = (type: string, status: string, reason = 'KubeletIsFine') => ({
  type,
  status,
  reason,
  message: `the kubelet says ${status} of ${type}`,
  lastHeartbeatTime: '2026-11-21T00:00:00Z',
  lastTransitionTime: '2026-11-20T00:00:00Z',
});

const usual = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'KernelDeadlock', 'ReadonlyFilesystem'];
const healthy = [...usual.map((type) => condition(type, 'False')), condition('Ready', 'True')];

/** As large as in a real node, which consists mostly of its list of images. */
const images = Array.from({ length: 50 }, (_, index) => ({
  names: [
    `registry.example.org/gardener/component-${index}@sha256:${'0123456789abcdef'.repeat(4)}`,
    `registry.example.org/gardener/component-${index}:v1.${index}.0`,
  ],
  sizeBytes: 30_000_000 + index,
}));

const unmanaged = 'node.machine.sapcloud.io/not-managed-by-mcm';
const pool = 'worker.gardener.cloud/pool';
const status = (...conditions: readonly object[]) => ({ conditions });

const nodeObjects = [
  {
    metadata: {
      name: 'large',
      labels: { [pool]: 'worker-a', 'kubernetes.io/arch': 'amd64', 'topology.kubernetes.io/zone': 'eu-1a' },
      annotations: { 'projectcalico.org/IPv4Address': '10.250.0.2/19', 'node.alpha.kubernetes.io/ttl': '0' },
    },
    spec: { podCIDR: '100.96.0.0/24', providerID: 'example:///eu-1/i-0' },
    status: {
      conditions: healthy,
      images,
      capacity: { cpu: '4', memory: '16Gi', pods: '110' },
      addresses: [{ type: 'InternalIP', address: '10.250.0.2' }],
    },
  },
  { metadata: { name: 'bare' } },
  { metadata: { name: 'unmanaged', annotations: { [unmanaged]: '1', other: 'Grüße 🌍' } } },
  { metadata: { name: 'unmanaged-empty', annotations: { [unmanaged]: '' } } },
  { metadata: { name: 'empty-pool', labels: { [pool]: '' } } },
  {
    metadata: { name: 'sick', labels: { [pool]: 'b' } },
    status: status(condition('DiskPressure', 'True'), condition('Ready', 'Unknown'), condition('Grüße', 'True')),
  },
  ...['ReadyForUpdate', 'UpdateFailed', 'UpdateSuccessful'].map((reason) => ({
    metadata: { name: `in-place-${reason.toLowerCase()}` },
    status: status(condition('InPlaceUpdate', 'True', reason)),
  })),
];

const lease = (name: string, spec: object) => ({ metadata: { name }, spec });
const leaseObjects = [
  lease('usual', { holderIdentity: 'usual', leaseDurationSeconds: 40, renewTime: '2026-11-21T01:02:03.456789Z' }),
  lease('whole-second', { renewTime: '2026-11-21T01:02:03.000000Z', leaseTransitions: 3 }),
  lease('old', { renewTime: '1969-12-31T23:59:59.999999Z' }),
  lease('epoch', { renewTime: '1970-01-01T00:00:00.000000Z' }),
  lease('other-zone', { renewTime: '2026-11-21T01:02:03.456789+05:30' }),
  lease('never-renewed', { holderIdentity: 'x' }),
  lease('empty', {}),
];

const connectTo = (kubeconfig: string) => {
  const clock = systemClock();
  const { endpoint, security, authorization } = parseUntrustedKubeconfig(kubeconfig);
  const transport = createTransport({ endpoint, security: async () => security, clock, userAgent: 'test' });
  const kube = withCredentials(transport, staticCredentials(authorization));
  return { kube, client: createKubeClient({ kube, clock }), close: () => transport.close() };
};

describeEnvtest('a real API server', () => {
  let plane: ControlPlane;
  let connection: ReturnType<typeof connectTo>;
  const { signal } = new AbortController();

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'protobuf', kinds: [] });
    connection = connectTo(plane.admin.kubeconfig.text);
    for (const node of nodeObjects) await plane.client.create(nodes, node);
    await plane.client.apply('/api/v1/namespaces/kube-node-lease', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'kube-node-lease' },
    });
    for (const object of leaseObjects) await plane.client.create(leases, object);
  });

  afterAll(async () => {
    connection.close();
    await plane.stop();
  });

  it('serves the kinds that a configuration is validated against', async () => {
    interface Discovered {
      readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
      readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
    }
    const discover = (path: string) => plane.client.get<Discovered>(path);
    const { groups } = await discover('/apis');
    const served = ['v1', ...groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion))];
    let scaled = 0;
    for (const apiVersion of served) {
      const { resources } = await discover(apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`);
      for (const { name, kind, namespaced } of resources) {
        if (!namespaced || name.includes('/')) continue;
        const hasScale = resources.some((one) => one.name === `${name}/scale`);
        scaled += hasScale ? 1 : 0;
        const judgement = judgeKind({ apiVersion, kind }).kind;
        expect(`${apiVersion} ${kind} ${judgement}`).toBe(`${apiVersion} ${kind} ${hasScale ? 'scalable' : 'wrong'}`);
      }
    }
    expect(scaled).toBe(4);
  });

  const raw = async (path: string, accept: string, query: Readonly<Record<string, string>> = {}) => {
    const response = await connection.kube.request({ method: 'GET', path, query, headers: { accept }, signal });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    return { bytes: Buffer.concat(chunks), type: response.headers['content-type'] };
  };

  it.each([
    ['nodes', listNodes, nodeObjects],
    ['leases', listNodeLeases, leaseObjects],
  ] as const)('rule 11: %s arrive as protobuf, and equal their JSON', async (_name, call, objects) => {
    const { bytes, type } = await raw(call.path, `${protobuf},application/json`);
    expect(type).toBe(protobuf);
    const options = { signal, timeoutMs: 10_000 };
    const typed = call as Call<readonly { readonly name: string }[]>;
    const { value: fromProtobuf } = await connection.client.call(typed, options);
    const { value: fromJson } = await connection.client.call(withoutProtobuf(typed), options);
    expect(fromProtobuf).toEqual(fromJson);
    expect(fromProtobuf).toEqual(readList(typed, bytes));
    const names: readonly string[] = objects.map(({ metadata }) => metadata.name);
    expect(fromProtobuf.map((view) => view.name)).toEqual([...names].sort());
  });

  const errors: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
    ['not-found', '/api/v1/namespaces/nowhere', {}],
    ['bad-request', nodes, { limit: 'many' }],
    ['too-large-version', nodes, { resourceVersion: '999999999' }],
  ];

  it.each(errors)('rule 11: an error as protobuf equals its JSON: %s', async (_name, path, query) => {
    const call: Call<unknown> = { ...listNodeLeases, path, query };
    const failure = (asked: Call<unknown>): Promise<ApiError> =>
      connection.client.call(asked, { signal, timeoutMs: 20_000 }).then(
        () => expect.unreachable(),
        (error: unknown) => error as ApiError,
      );
    const fromJson = await failure(withoutProtobuf(call));
    const { type } = await raw(path, `${protobuf},application/json`, query);
    expect(type).toBe(protobuf);
    // One message contains the current revision.
    const essence = ({ code, status: http, message, retryAfterMs }: ApiError) => {
      return { code, http, retryAfterMs, message: message.replace(/current: \d+/, 'current: N') };
    };
    expect(essence(await failure(call))).toEqual(essence(fromJson));
  });
});
