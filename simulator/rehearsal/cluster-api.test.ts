import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { proberConfig } from '../../src/prober/index.ts';
import type { DependentResource, ProberSettings } from '../../src/prober/settings.ts';
import { capiSettings, gardenSettings } from '../harness/index.ts';
import { planRehearsal } from './plan.ts';
import { rehearse } from './rehearse.ts';
import type { Rehearsal } from './result.ts';

const document = readFileSync(new URL('../../docs/other-systems.md', import.meta.url), 'utf8');

/** Returns the indented block of the document that begins like this, as a user copies it. */
const exampleFrom = (beginning: string): string => {
  const lines = document.slice(document.indexOf(`\n    ${beginning}`) + 1).split('\n');
  const end = lines.findIndex((line) => !line.startsWith('    '));
  return lines
    .slice(0, end)
    .map((line) => `${line.slice(4)}\n`)
    .join('');
};

const controllerManager = exampleFrom('kubeConfigSecretName: "{{ cluster }}-kubeconfig"');
const healthCheck = exampleFrom('  - ref: {apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineHealthCheck');

const settingsOf = (text: string): ProberSettings => {
  const { settings, problems } = proberConfig.load(text, { unknownFields: 'warning', purpose: 'ahead' });
  expect(problems).toEqual([]);
  return settings!;
};

/** Rehearses three clusters: two share a namespace, and the third is alone in another. */
const run = (settings: ProberSettings): Promise<Rehearsal> => {
  const limits = { qps: 5, burst: 10 };
  const plan = planRehearsal({ settings, shoots: 3, nodes: 3, fault: 'lb', durationMs: 900_000, seed: 1, limits });
  if (!plan.ok) throw new Error(plan.error);
  return rehearse(plan.value);
};

const rows = ({ timeline }: Rehearsal) => timeline.map(({ what, shoots }) => `${what}: ${String(shoots)}`);

const isProtected = {
  isProtected: true,
  without: { nodesLost: 9, machinesReplaced: 0 },
  with: { nodesLost: 0, machinesReplaced: 0 },
  threatened: 3,
  heldShoots: 3,
  needless: 0,
  unrestored: 0,
};

it("protects clusters of Cluster API with the document's configuration, and gives back their MachineHealthChecks", async () => {
  const result = await run(settingsOf(controllerManager + healthCheck));
  expect(result).toMatchObject({ ...isProtected, source: 'cluster-api', warnings: [] });
  expect(rows(result)).toEqual([
    'threshold crossed: 3',
    'first scale-down: 3',
    'last scale-down: 3',
    'kube-controller-manager scaled down: 3',
    'MachineHealthCheck mhc annotated: 3',
    "KCM's grace over for the first node: 3",
    'outage ends: 3',
    'kube-controller-manager restored: 3',
    'MachineHealthCheck mhc restored: 3',
  ]);
  expect(result.takenForGranted).toEqual([
    'that cluster.x-k8s.io/paused pauses the controllers of MachineHealthCheck {{ cluster }}-mhc: no simulated controller reacts to it; the rehearsal only shows when the resource is annotated and restored',
  ]);
  expect(result.requests.seed).toMatchObject({ 'patch deployments': 6, 'patch machinehealthchecks': 6 });
});

it('serves a MachineHealthCheck of another API version, with any cluster source', async () => {
  const olderCheck = healthCheck.replace('v1beta2', 'v1beta1');
  expect(await run(settingsOf(controllerManager + olderCheck))).toMatchObject(isProtected);
  const named = olderCheck.replace('{{ cluster }}-mhc', 'checks');
  const result = await run(
    settingsOf(
      controllerManager
        .replace('clusterSource: {kind: cluster-api}\n', '')
        .replaceAll('{{ cluster }}-controller', 'kube-controller')
        .replaceAll('{{ cluster }}-', '') + named,
    ),
  );
  expect(result).toMatchObject({ ...isProtected, source: 'gardener' });
  expect(rows(result)).toContain('MachineHealthCheck checks restored: 3');
});

it('does not count an annotation as a scale-down of KCM', async () => {
  const withoutManager = controllerManager.slice(0, controllerManager.indexOf('  - ref'));
  const result = await run(settingsOf(withoutManager + healthCheck));
  expect(result).toMatchObject({ isProtected: false, heldShoots: 0, with: { nodesLost: 9 }, unrestored: 0 });
  expect(rows(result)).toContain('MachineHealthCheck mhc annotated: 3');
  expect(rows(result)).not.toContain('first scale-down: 3');
});

it('supports per-cluster names of all programs and of the external probe, and managers of other kinds', async () => {
  const probe = { timeoutMs: 2_000, failureThreshold: 3, successThreshold: 1, mode: 'confirm' } as const;
  const externalProbe = { ...probe, kubeConfigSecretName: 'outside' };
  const settings = capiSettings({ ...gardenSettings, externalProbe });
  expect(await run(settings)).toMatchObject(isProtected);
  const [kcm, ...others] = settings.dependentResources as readonly [DependentResource, ...DependentResource[]];
  const statefulSet = { ...kcm, ref: { ...kcm.ref, kind: 'StatefulSet' } };
  expect(await run({ ...settings, dependentResources: [statefulSet, ...others] })).toMatchObject(isProtected);
});

it('rejects a resource outside the namespace of its cluster', () => {
  const settings = settingsOf(controllerManager.replace('"{{ namespace }}"', '"tenant-{{ namespace }}"'));
  const limits = { qps: 5, burst: 10 };
  expect(planRehearsal({ settings, shoots: 1, nodes: 3, fault: 'lb', durationMs: 900_000, seed: 1, limits })).toEqual({
    ok: false,
    error: '{{ cluster }}-controller-manager is in another namespace than its cluster, which cannot be rehearsed',
  });
});
