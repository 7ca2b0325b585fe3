import { describe, expect, it } from 'vitest';
import { createKubeClient, staticCredentials, withCredentials } from '../../src/kubernetes/client/index.ts';
import { parseUntrustedKubeconfig } from '../../src/kubernetes/kubeconfig/index.ts';
import { simKinds } from '../apiserver/kinds.ts';
import { createVirtualClock } from '../time/clock.ts';
import { etcdAnnotation, kubeletsAnnotation } from './objects.ts';
import type { WorldSource } from './steering.ts';
import { type World, createWorld } from './world.ts';

const start = (source?: WorldSource) => {
  const clock = createVirtualClock();
  const shoots = [{ name: 'a', controlPlanePods: true, nodeMonitorGraceMs: 80_000 }];
  const world = createWorld({ clock, shoots, ...(source === undefined ? {} : { source }) });
  return { clock, world, shoot: world.shoot('a') };
};

/** Returns `served` if the seed's API server serves the list, otherwise the error's code. */
const listOf = async (world: World, path: string): Promise<unknown> => {
  const { authorization } = parseUntrustedKubeconfig(world.api.kubeconfig());
  const kube = withCredentials(world.api.kube, staticCredentials(authorization));
  const client = createKubeClient({ kube, clock: createVirtualClock() });
  const options = { signal: new AbortController().signal, timeoutMs: 1_000 };
  return client.call({ method: 'GET', path, decode: () => undefined }, options).then(
    () => 'served',
    (error: unknown) => (error as { readonly code: unknown }).code,
  );
};

const clusters = '/apis/extensions.gardener.cloud/v1alpha1/clusters';
const machines = '/apis/machine.sapcloud.io/v1alpha1/machines';

const annotate = ({ store }: World, value: Readonly<Record<string, string>>): void => {
  store.patch(simKinds.Namespace, { name: 'shoot--sim--a' }, (old) => ({
    ...old,
    metadata: { ...old.metadata, annotations: value },
  }));
};

describe('a seed without Gardener', () => {
  it('serves all kinds except Clusters and Machines', async () => {
    const { world } = start('secret');
    expect(await listOf(world, clusters)).toBe('NotFound');
    expect(await listOf(world, machines)).toBe('NotFound');
    expect(await listOf(world, '/api/v1/secrets')).toBe('served');
    expect(world.store.list(simKinds.Cluster)).toEqual([]);
    const garden = start();
    expect([await listOf(garden.world, clusters), await listOf(garden.world, machines)]).toEqual(['served', 'served']);
  });

  it('is controlled by annotations on the Namespace of a control plane', async () => {
    const { clock, world, shoot } = start('secret');
    annotate(world, { [kubeletsAnnotation]: 'cut' });
    await clock.advance(30_000);
    expect(shoot.api.reachability).toBe('open');
    const leases = shoot.store.list(simKinds.Lease, 'kube-node-lease');
    const renewals = leases.map(({ spec }) => Date.parse((spec as { readonly renewTime: string }).renewTime));
    expect(clock.now() - Math.max(...renewals)).toBeGreaterThanOrEqual(30_000);
    annotate(world, { [etcdAnnotation]: 'down' });
    await clock.advance(30_000);
    expect(shoot.api.reachability).not.toBe('open');
    annotate(world, {});
    await clock.advance(120_000);
    expect(shoot.api.reachability).toBe('open');
  });

  it('marks nodes Unknown after the grace period of their cluster', async () => {
    const { clock, shoot } = start('secret');
    shoot.cutKubelets();
    await clock.advance(75_000);
    expect(shoot.impact().nodesTurnedUnknown).toBe(0);
    await clock.advance(25_000);
    expect(shoot.impact().nodesTurnedUnknown).toBe(5);
  });
});
