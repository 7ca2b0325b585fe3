import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { extensionKinds } from '../../simulator/apiserver/care-kinds.ts';
import { formatMicroTime } from '../../simulator/apiserver/time.ts';
import { careConfig } from '../../src/care/config.ts';
import { careGardenGrants, careGrants, careShootGrants } from '../../src/care/rights.ts';
import { careExtensionKinds } from '../../src/gardener/extensions.ts';
import { leaseGrants } from '../../src/process/rights/grants.ts';
import { gardenerKinds } from '../envtest/crds.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { type Kubelets, createKubeconfigSecret, createMachines } from '../envtest/shoot.ts';
import { conditionsFound, conditionsWritten } from './support/care-outcomes.ts';
import {
  careGardenKinds,
  careKinds,
  createCareShoot,
  createInsideOfShoot,
  namespaceOf,
  shootPath,
  shootUid,
} from './support/care-shoot.ts';
import { type RightsHarness, startRightsHarness } from './support/rights-harness.ts';
import { type Grants, type Running, accessOf, rulesOf, variantsOf } from './support/without-right.ts';
import { WriteProxy } from './support/write-proxy.ts';

const nodes = ['node-a', 'node-b', 'node-c'];
const usualSecret = 'shoot-access-dependency-watchdog-probe';

const careConfigFor = (secretName: string): string => `
syncPeriod: 10s
kubeConfigSecretName: ${secretName}
`;

const grantsWith = (secretName: string) => {
  const { settings } = careConfig.load(careConfigFor(secretName), { unknownFields: 'error' });
  return settings === undefined ? expect.unreachable('not valid') : careGrants(settings);
};

/** These variants write nothing, so they can share the shoots. */
const readers = variantsOf('care', (id): Grants => {
  const election = leaseGrants('dwd-care-leader-election-dry-run', id);
  return { seed: [...grantsWith(id), ...election], shoot: careShootGrants };
});

/** Each of these variants has its own shoot. */
const writers = variantsOf('garden', (id): Grants => {
  const election = leaseGrants('dwd-care-leader-election', id);
  return { garden: careGardenGrants, seed: [...grantsWith(usualSecret), ...election], shoot: careShootGrants };
}).filter(({ removed }) => removed === undefined || removed.place === 'garden');

/** Some kinds are in several of the lists. */
const kinds = [...new Set([...gardenerKinds, ...careKinds, ...careGardenKinds, ...extensionKinds.values()])];

type ExtensionKind = (typeof careExtensionKinds)[number];
interface Report {
  /** Type of the extension. */
  readonly type: string;
  readonly condition: { readonly type: string; readonly status: string };
}
const extensions = '/apis/extensions.gardener.cloud/v1alpha1';
const shoots = ['one', 'two', 'three', 'four'];
const reportedTypes = [
  'ControlPlaneHealthy',
  'ObservabilityComponentsHealthy',
  'EveryNodeReady',
  'SystemComponentsHealthy',
];

describeEnvtest('care without one of its rights', () => {
  let harness: RightsHarness;
  let kubelets: Kubelets;
  const proxies: WriteProxy[] = [];

  beforeAll(async () => {
    harness = await startRightsHarness(kinds);
    kubelets = await createInsideOfShoot(harness.plane.client, nodes);
  });
  afterEach(() => harness.stopAll());
  afterAll(async () => {
    await kubelets.stop();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await harness.stop();
  });

  /** Registers an extension for a type, with the last renewal of its heartbeat. */
  const register = async (type: string, renewedAt: number): Promise<void> => {
    const { client } = harness.plane;
    const core = '/apis/core.gardener.cloud/v1beta1';
    const create = (kind: string, spec: object): Promise<unknown> =>
      client.create(`${core}/${kind.toLowerCase()}s`, {
        ...{ apiVersion: 'core.gardener.cloud/v1beta1', kind, metadata: { name: type }, spec },
      });
    await create('ControllerRegistration', { resources: careExtensionKinds.map(({ kind }) => ({ kind, type })) });
    await create('ControllerInstallation', { registrationRef: { name: type }, seedRef: { name: 'seed' } });
    await client.create('/api/v1/namespaces', { metadata: { name: `extension-${type}` } });
    await client.create(`/apis/coordination.k8s.io/v1/namespaces/extension-${type}/leases`, {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'gardener-extension-heartbeat' } },
      spec: { renewTime: formatMicroTime(renewedAt) },
    });
  };

  /** Writes an extension's report on a shoot. */
  const report = async (shoot: string, extension: ExtensionKind, { type, condition }: Report): Promise<void> => {
    const { kind, resource, scope } = extension;
    const { client } = harness.plane;
    const isWide = scope === 'cluster';
    const path = `${extensions}${isWide ? '' : `/namespaces/${namespaceOf(shoot)}`}/${resource}`;
    const name = isWide ? `${namespaceOf(shoot)}--${shootUid}` : shoot;
    const apiVersion = 'extensions.gardener.cloud/v1alpha1';
    await client.create(path, { apiVersion, kind, metadata: { name }, spec: { type } });
    const said = { reason: 'Test', message: 'the test says so', ...condition };
    await client.patch(`${path}/${name}/status`, { status: { conditions: [said] } });
  };

  /** Creates a healthy shoot. */
  const createShoot = async (name: string, kubeconfig: string): Promise<void> => {
    await createCareShoot({ garden: harness.plane, seed: harness.plane }, { name, kubeconfig, nodes });
    await createMachines(harness.plane.client, { namespace: namespaceOf(name), nodes });
  };

  /** Returns the conditions that a variant has logged, each with its latest status. */
  const found = ({ program }: Running): ReadonlyMap<string, string> => {
    const last = new Map<string, string>();
    for (const { msg, condition, status, reason, text, namespace } of program.lines()) {
      if (msg !== 'condition changed') continue;
      const numbers = /\(\d\/\d\)/.exec(String(text))?.[0] ?? '';
      // For outdated reports, only the fact counts, not the kind of each.
      const why = String(reason).replace(/^.*(?=OutdatedHealth)/, '');
      const how = status === 'True' ? 'True' : [status, why, numbers].join(' ').trim();
      last.set(`${String(namespace).replace(/^.*--/, '')} ${String(condition)}`, how);
    }
    return last;
  };

  /** Returns the differences from the variant with all rights. */
  const difference = (one: Running, all: ReadonlyMap<string, string>): string => {
    const own = found(one);
    if (own.size === 0) return 'nothing';
    const differing = new Map<string, string[]>();
    for (const [what, how] of all) {
      const now = own.get(what) ?? 'gone';
      if (now !== how) differing.set(now, [...(differing.get(now) ?? []), what]);
    }
    const words = Array.from(differing, ([how, whats]) => `${whats.length === 1 ? whats.join() : whats.length} ${how}`);
    return words.toSorted().join(', ');
  };

  const brokenManagedResource = async (): Promise<void> => {
    const path = `/apis/resources.gardener.cloud/v1alpha1/namespaces/${namespaceOf('one')}/managedresources`;
    await harness.plane.client.create(path, {
      apiVersion: 'resources.gardener.cloud/v1alpha1',
      kind: 'ManagedResource',
      metadata: { name: 'logs', labels: { 'care.gardener.cloud/condition-type': 'ObservabilityComponentsHealthy' } },
      spec: { class: 'seed' },
    });
  };

  it('in the seed and in the shoot', async () => {
    const { client } = harness.plane;
    const garden = ['--dry-run', `--garden-kubeconfig=${harness.plane.admin.kubeconfig.file}`];
    await harness.start('care', readers, ({ id }) => ({ config: careConfigFor(id), flags: garden }));
    // All objects are created after the initial lists, so that care sees them only by watches.
    await register('fresh', Date.now());
    await register('stale', 0);
    for (const shoot of shoots) await createShoot(shoot, '');
    for (const variant of readers) {
      const kubeconfig = await accessOf(harness.plane, variant, 'shoot');
      for (const shoot of shoots) {
        await createKubeconfigSecret(client, { namespace: namespaceOf(shoot), name: variant.id, kubeconfig });
      }
    }
    // For each condition, the first report that is not True counts.
    for (const [index, kind] of careExtensionKinds.entries()) {
      const condition = { type: reportedTypes[index % 4]!, status: 'False' };
      await report(index < 4 ? 'two' : 'three', kind, { type: 'fresh', condition });
    }
    const condition = { type: 'ControlPlaneHealthy', status: 'True' };
    await report('four', careExtensionKinds[0], { type: 'stale', condition });
    const pool = `/apis/machine.sapcloud.io/v1alpha1/namespaces/${namespaceOf('four')}/machinedeployments/pool`;
    await client.patch(pool, { spec: { replicas: nodes.length + 1 } });
    await brokenManagedResource();
    const byAll = (): ReadonlyMap<string, string> => found(harness.running()[0]!);
    await harness.until('conditions', conditionsFound, async (one) =>
      one === harness.running()[0]
        ? [...byAll()]
            .map((line) => line.join(' '))
            .filter((line) => !line.endsWith(' True'))
            .toSorted()
            .join(', ')
        : difference(one, byAll()),
    );
    await harness.expectNamedAndRefused();
  }, 300_000);

  it('in the garden', async () => {
    await harness.start('care', writers, async (variant) => {
      const { id } = variant;
      const onlyClusters = { fieldSelector: `metadata.name=${namespaceOf(id)}` };
      const proxy = await WriteProxy.start(harness.plane, { user: id, rules: rulesOf(variant, 'seed'), onlyClusters });
      proxies.push(proxy);
      const { file } = await harness.plane.kubeconfigFor({ user: `${id}-garden`, rules: rulesOf(variant, 'garden') });
      return {
        config: careConfigFor(usualSecret),
        kubeconfig: proxy.kubeconfig,
        flags: [`--garden-kubeconfig=${file}`],
      };
    });
    await register('late', Date.now());
    for (const variant of writers) {
      await createShoot(variant.id, await accessOf(harness.plane, variant, 'shoot'));
      const condition = { type: 'ControlPlaneHealthy', status: 'True' };
      await report(variant.id, careExtensionKinds[2], { type: 'late', condition });
      const outdated = { type: 'ObservabilityComponentsHealthy', status: 'True' };
      await report(variant.id, careExtensionKinds[0], { type: 'stale', condition: outdated });
    }
    await harness.until('conditions in the garden', conditionsWritten, async ({ variant: { id } }) => {
      const { metadata, status } = await harness.plane.client.get<{
        metadata: { labels?: Record<string, string> };
        status: { conditions?: readonly { type: string; status: string; reason: string }[] };
      }>(shootPath(id));
      const conditions = (status.conditions ?? []).flatMap((one) =>
        one.status === 'True' ? [] : [`${one.type} ${one.status} ${one.reason}`],
      );
      const label = metadata.labels?.['shoot.gardener.cloud/status'] ?? 'no label';
      return [`${String(status.conditions?.length ?? 0)} conditions`, label, ...conditions].join(', ');
    });
    await harness.expectNamedAndRefused();
  }, 300_000);
});
