import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { createScriptedKube } from '../../../test/doubles/scripted-kube.ts';
import { createKubeClient } from './client.ts';
import { type ResolvedKind, resolveKind } from './discovery.ts';

const resources = (...entries: readonly object[]): unknown => ({ kind: 'APIResourceList', resources: entries });

const ask = async (
  wanted: { readonly apiVersion: string; readonly kind: string },
  status: number,
  body: unknown,
): Promise<{ readonly path: string; readonly resolved: ResolvedKind }> => {
  const kube = createScriptedKube();
  const client = createKubeClient({ kube, clock: createVirtualClock() });
  const resolved = resolveKind(client, wanted, { signal: new AbortController().signal, timeoutMs: 5_000 });
  const exchange = kube.take();
  expect(exchange.request.timeoutMs).toBe(5_000);
  exchange.respond(status, body);
  return { path: exchange.request.path, resolved: await resolved };
};

const apps = resources(
  { name: 'deployments', kind: 'Deployment', namespaced: true },
  { name: 'deployments/scale', kind: 'Scale', group: 'autoscaling', version: 'v1', namespaced: true },
  { name: 'deployments/status', kind: 'Deployment', namespaced: true },
  { name: 'daemonsets', kind: 'DaemonSet', namespaced: true },
);

describe('resolveKind', () => {
  it('finds the plural and the scale subresource', async () => {
    const { path, resolved } = await ask({ apiVersion: 'apps/v1', kind: 'Deployment' }, 200, apps);
    expect(path).toBe('/apis/apps/v1');
    expect(resolved).toEqual({ kind: 'served', resource: 'deployments', namespaced: true, hasScale: true });
  });

  it('reports that a kind has no scale subresource', async () => {
    const { resolved } = await ask({ apiVersion: 'apps/v1', kind: 'DaemonSet' }, 200, apps);
    expect(resolved).toMatchObject({ resource: 'daemonsets', hasScale: false });
  });

  it.each([
    ['Scale', 200, apps],
    ['Etcd', 404, '404 page not found\n'],
  ])('%s (%d) is not served', async (kind, status, body) => {
    const { resolved } = await ask({ apiVersion: 'apps/v1', kind }, status, body);
    expect(resolved).toEqual({ kind: 'not-served', problem: `the API server does not serve ${kind} of apps/v1` });
  });

  it.each([
    [503, '', 'ServerError'],
    [200, 'no json', 'MalformedResponse'],
    [200, { kind: 'APIResourceList' }, 'MalformedResponse'],
    [200, resources({ name: 5, kind: 'X' }), 'MalformedResponse'],
  ])('rejects for any other failure (%d)', async (status, body, code) => {
    await expect(ask({ apiVersion: 'apps/v1', kind: 'X' }, status, body)).rejects.toMatchObject({ code });
  });
});
