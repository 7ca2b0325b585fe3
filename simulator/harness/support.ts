import { gardenApiServerRef } from '../../src/gardener/api-server.ts';
import { meltdownProtectionAnnotation, replicasAnnotation } from '../../src/gardener/scaling-annotations.ts';
import { type SimDraft, type SimObject, simKinds } from '../apiserver/index.ts';
import { clusterAutoscaler, kubeControllerManager, machineControllerManager } from '../world/index.ts';
import type { DeploymentChange } from './deployment-history.ts';
import type { Scenario } from './harness.ts';

// What the tests of this folder share: short names, and steps that several of them take.

const shortNames: Readonly<Record<string, string>> = {
  [kubeControllerManager]: 'kcm',
  [machineControllerManager]: 'mcm',
  [clusterAutoscaler]: 'ca',
};

export const longName = (short: string): string =>
  Object.entries(shortNames).find(([, name]) => name === short)?.[0] ?? short;

const marksOf = ({ annotations }: Pick<DeploymentChange, 'annotations'>): string => {
  const stored = annotations[replicasAnnotation];
  const active = annotations[meltdownProtectionAnnotation];
  return `${stored === undefined ? '' : ` replicas=${stored}`}${active === undefined ? '' : ` active=${active}`}`;
};

/** Changes as lines such as `mcm 1->0 replicas=1 active=`. */
export const changeLines = (changes: readonly DeploymentChange[]): readonly string[] =>
  changes.map((change) => {
    const { name, from, to } = change;
    return `${shortNames[name] ?? name} ${String(from)}->${String(to)}${marksOf(change)}`;
  });

/** Counts and marks of what the prober scales of a shoot, as lines such as `kcm 0 replicas=1 active=`. */
export const stateOf = ({ world }: Scenario, shoot: string): readonly string[] =>
  world.store.list(simKinds.Deployment, world.shoot(shoot).namespace).flatMap(({ metadata, spec }) => {
    if (metadata.name === gardenApiServerRef.name) return [];
    const { replicas } = spec as { readonly replicas: number };
    const marks = marksOf({ annotations: metadata.annotations ?? {} });
    return [`${shortNames[metadata.name] ?? metadata.name} ${String(replicas)}${marks}`];
  });

/** All up with one replica each and without marks, as `stateOf` tells it. */
export const allUp: readonly string[] = ['ca 1', 'kcm 1', 'mcm 1'];
export const allHeld: readonly string[] = ['ca', 'kcm', 'mcm'].map((name) => `${name} 0 replicas=1 active=`);

/** Lets the prober probe a while, then cuts the shoot off until all its Deployments are held. */
export const reachOutage = async (scenario: Scenario, shoot = 'a'): Promise<void> => {
  const { clock, world } = scenario;
  scenario.startProber();
  await clock.advance(60_000);
  world.shoot(shoot).cutKubelets();
  await clock.advance(60_000);
};

/** Changes the shoot inside a Cluster. */
export const editShoot = (scenario: Scenario, name: string, edit: (shoot: Shoot) => Shoot): void => {
  const { store } = scenario.world;
  store.patch(simKinds.Cluster, { name: scenario.world.shoot(name).namespace }, (cluster) => {
    const spec = cluster.spec as { readonly shoot: Shoot };
    return { ...cluster, spec: { ...spec, shoot: edit(spec.shoot) } };
  });
};

interface Shoot {
  readonly metadata: object;
  readonly spec: { readonly provider: object };
  readonly status: object;
}

export const editDeployment = (
  { world }: Scenario,
  { shoot, name }: { readonly shoot: string; readonly name: string },
  edit: (deployment: SimObject) => SimDraft,
): void => {
  world.store.patch(simKinds.Deployment, { namespace: world.shoot(shoot).namespace, name: longName(name) }, edit);
};

export const annotated =
  (annotations: Readonly<Record<string, string>>) =>
  (object: SimObject): SimDraft => ({
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
  });
