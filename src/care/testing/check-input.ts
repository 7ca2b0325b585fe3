import { meltdownProtectionAnnotation } from '../../annotations/scaling-annotations.ts';
import { type CareShoot, type WorkerPool, bareShoot } from '../../gardener/care-shoots.ts';
import type { Condition } from '../../gardener/condition.ts';
import type { ObjectHealth } from '../../gardener/health.ts';
import type { ControlPlaneDeployment } from '../../gardener/workloads.ts';
import type { MachineDeploymentHealth } from '../../gardener/machine-deployment.ts';
import type { ManagedResourceHealth } from '../../gardener/managed-resource.ts';
import type { NodeHealth } from '../../gardener/node.ts';
import type { ObjectMeta } from '../../kubernetes/api/decode.ts';
import type { CheckInput, SeedObservation, ShootObservation } from '../judge/observation.ts';
import { type CareSettings, careConfig } from '../config.ts';

const namespace = 'shoot--dev--one';
export const now = Date.parse('2026-01-01T12:00:00Z');
/** Returns the time `seconds` before `now`. */
export const ago = (seconds: number): string => new Date(now - seconds * 1_000).toISOString().replace('.000Z', 'Z');

// Builders of healthy objects. A test passes only what differs.

export const meta = (name: string, labels: Readonly<Record<string, string>> = {}): ObjectMeta => ({
  name,
  namespace,
  uid: `uid-of-${name}`,
  resourceVersion: '1',
  labels,
  annotations: {},
  deleting: false,
});

export const condition = (type: string, status: string, more: Partial<Condition> = {}): Condition => ({
  type,
  status,
  reason: `${type}Reason`,
  message: `${type} says so.`,
  lastTransitionTime: ago(3_600),
  lastUpdateTime: ago(60),
  ...more,
});

export const deployment = (name: string, more: Partial<ControlPlaneDeployment> = {}): ControlPlaneDeployment => ({
  meta: meta(name),
  role: 'controlplane',
  replicas: 1,
  ...more,
});

/** Metadata of a Deployment that the prober holds. */
export const heldMeta = (name: string): Pick<ControlPlaneDeployment, 'meta'> => ({
  meta: { ...meta(name), annotations: { [meltdownProtectionAnnotation]: '' } },
});

export const etcd = (name: string, problem?: string): ObjectHealth => ({
  meta: meta(name, { 'gardener.cloud/role': 'controlplane' }),
  problem,
});

export const managedResource = (name: string, more: Partial<ManagedResourceHealth> = {}): ManagedResourceHealth => ({
  ...{ meta: meta(name), generation: 1, observedGeneration: 1 },
  conditions: [
    condition('ResourcesApplied', 'True'),
    condition('ResourcesHealthy', 'True'),
    condition('ResourcesProgressing', 'False'),
  ],
  ...more,
});

export const machineDeployment = (
  name: string,
  replicas: number,
  more: Partial<MachineDeploymentHealth> = {},
): MachineDeploymentHealth => ({
  meta: meta(name),
  ...{ replicas, failedMachines: [], unavailable: false, rollingOut: false },
  ...more,
});

export const node = (name: string, more: Partial<NodeHealth> = {}): NodeHealth => ({
  meta: meta(name),
  ready: true,
  pool: 'worker',
  managedByMcm: true,
  unschedulable: false,
  kubeletVersion: 'v1.33.2',
  ...more,
});

export const pool = (more: Partial<WorkerPool> = {}): WorkerPool => ({
  name: 'worker',
  minimum: 2,
  maximum: 2,
  kubernetesVersion: '1.33.2',
  ...more,
});

export const shoot = (more: Partial<CareShoot> = {}): CareShoot => ({
  ...bareShoot({ namespace: 'garden-dev', name: 'one' }),
  purpose: 'production',
  pools: [pool()],
  lastOperation: { type: 'Reconcile', state: 'Succeeded', lastUpdateTime: ago(86_400) },
  ...more,
});

const { settings: defaults } = careConfig.load('{}', { unknownFields: 'error' });
if (defaults === undefined) throw new Error('there are no default settings');
export const settings: CareSettings = defaults;

const controlPlaneNames = [
  'gardener-resource-manager',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'machine-controller-manager',
];

export const controlPlane: readonly ControlPlaneDeployment[] = controlPlaneNames.map((name) => deployment(name));
export const monitoring: readonly ControlPlaneDeployment[] = [deployment('kube-state-metrics', { role: 'monitoring' })];
const twoNodes: readonly NodeHealth[] = [node('a'), node('b')];

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });
export const bad = (error: string): { readonly ok: false; readonly error: string } => ({ ok: false, error });

type Observed = Extract<ShootObservation, { kind: 'observed' }>;

export const observed = (more: Partial<Observed> = {}): Observed => ({
  kind: 'observed',
  healthz: { status: 200, text: 'ok', responseMs: 7 },
  nodes: ok(twoNodes),
  leases: ok(twoNodes.map(({ meta: { name } }) => ({ name, renewTime: (now + 30_000) * 1_000 }))),
  tunnel: ok({ kind: 'connected' }),
  ...more,
});

export interface Parts {
  readonly seed?: Partial<SeedObservation>;
  readonly view?: ShootObservation;
  readonly shoot?: Partial<CareShoot>;
  readonly settings?: Partial<CareSettings>;
}

/** Builds the input of a check for a healthy shoot, with `parts` replaced. */
export const checkInput = (parts: Parts = {}): CheckInput => ({
  seed: {
    deployments: ok([...controlPlane, ...monitoring]),
    etcds: ok([etcd('etcd-events'), etcd('etcd-main')]),
    managedResources: ok([managedResource('seed-one', { class: 'seed' }), managedResource('shoot-one')]),
    machineDeployments: ok([machineDeployment('worker', 2)]),
    machines: ok(twoNodes.map(({ meta: { name } }) => ({ node: name, phase: 'Running', deleting: false }))),
    extensions: [],
    ...parts.seed,
  },
  view: parts.view ?? observed(),
  shoot: shoot(parts.shoot),
  settings: { ...settings, ...parts.settings },
  now,
});

/** Returns the Deployments of a healthy shoot without those named. */
export const without = (...names: readonly string[]): readonly ControlPlaneDeployment[] =>
  [...controlPlane, ...monitoring].filter(({ meta: { name } }) => !names.includes(name));
