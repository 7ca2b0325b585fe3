import { expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { createSimApiServer } from '../../simulator/apiserver/server.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { withFaults } from '../../simulator/network/faults.ts';
import { buildCluster } from '../../test/doubles/builders.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { formatRight } from '../kubernetes/api/access.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { createKubeClient } from '../kubernetes/client/client.ts';
import { neededByProber } from './rights.ts';

const dependent = (apiVersion: string, kind: string, name: string) => ({
  ref: { apiVersion, kind, name },
  optional: false,
  scaleUp: { level: 0, initialDelayMs: 0, timeoutMs: 30_000 },
});
const settings = {
  ...gardenSettings,
  kubeConfigSecretName: 'access',
  dependentResources: [
    dependent('apps/v1', 'Deployment', 'kcm'),
    dependent('druid.gardener.cloud/v1alpha1', 'Etcd', 'main'),
    dependent('example.org/v1', 'Nothing', 'here'),
  ],
};

const clock = createVirtualClock();

const createSeed = (clusters: readonly string[]) => {
  const seed = createSimApiServer({ clock });
  for (const name of clusters) seed.store.put(simKinds.Cluster, buildCluster({ name }));
  return seed;
};

const ask = async (kube: Kube, wanted = settings): Promise<readonly string[]> => {
  const options = { signal: new AbortController().signal, timeoutMs: 1_000 };
  const needed = await neededByProber(wanted, { client: createKubeClient({ kube, clock }), options });
  return needed.map(({ right }) => formatRight(right).replaceAll('in API group ', '').replaceAll('resource ', ''));
};

/** The rights to write: to what is served alone. */
const writesIn = (rights: readonly string[]): readonly string[] => rights.filter((right) => right.startsWith('patch'));
const placed = (where: string): readonly string[] =>
  [
    '"deployments" "kcm" "apps"',
    '"etcds" "main" "druid.gardener.cloud"',
    '"etcds/scale" "main" "druid.gardener.cloud"',
  ].map((what) => `patch ${what} ${where}`);

it('covers watches in all namespaces, and requests in the namespace of a shoot', async () => {
  const needed = await ask(createSeed(['shoot--a', 'shoot--b']));
  expect(writesIn(needed)).toEqual(placed('in the namespace "shoot--a"'));
  const watches = needed.filter((right) => right.startsWith('watch'));
  expect(watches.filter((right) => !right.endsWith('at the cluster scope'))).toEqual([]);
  expect(watches).toContain('watch "secrets" "access" "" at the cluster scope');
});

it('is requested at the cluster scope if there is no shoot, or no right to list shoots', async () => {
  const forbidden = withFaults(createSeed(['shoot--a']), {
    clock,
    rule: ({ path }) => (path.endsWith('/clusters') ? { status: 403 } : undefined),
  });
  for (const seed of [createSeed([]), forbidden]) {
    expect(writesIn(await ask(seed))).toEqual(placed('at the cluster scope'));
  }
});

it.each(['/clusters', '/apis/apps/v1'])('is unknown if %s cannot be read', async (path) => {
  const failing = withFaults(createSeed(['shoot--a']), {
    clock,
    rule: (request) => (request.path.endsWith(path) ? { status: 500 } : undefined),
  });
  await expect(ask(failing)).rejects.toMatchObject({ code: 'ServerError' });
});

it('is requested in the namespace of a Secret if clusters are found by these', async () => {
  const seed = createSeed([]);
  seed.store.put(simKinds.Secret, { metadata: { namespace: 'one', name: 'access' } });
  seed.store.put(simKinds.Secret, { metadata: { namespace: 'other', name: 'access-of-another' } });
  const rights = await ask(seed, { ...settings, clusterSource: { key: 'value' } });
  expect(writesIn(rights)).toEqual(placed('in the namespace "one"'));
});

it('covers all Secrets if they are selected by labels, which RBAC does not support', async () => {
  const seed = createSeed([]);
  const labelled = {
    kubeConfigSecretName: 'app=tenant',
    clusterSource: { key: 'value', selector: 'app=tenant' },
  };
  const rights = await ask(seed, { ...settings, ...labelled });
  expect(rights.filter((right) => right.includes('secrets'))).toEqual([
    'list "secrets" "" at the cluster scope',
    'watch "secrets" "" at the cluster scope',
  ]);
});
