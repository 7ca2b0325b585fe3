import { meltdownProtectionAnnotation, replicasAnnotation } from '../../src/annotations/scaling-annotations.ts';
import { type SimDraft, type SimObject, simKinds } from '../apiserver/index.ts';
import {
  clusterAutoscaler,
  editEmbedded,
  kubeApiserver,
  kubeControllerManager,
  machineControllerManager,
} from '../world/index.ts';
import type { DeploymentChange } from './deployment-history.ts';
import type { Scenario } from './scenario.ts';

// Shared by the tests of the prober: short names, and steps that several tests take.

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

/** Formats changes as lines such as `mcm 1->0 replicas=1 active=`. */
export const changeLines = (changes: readonly DeploymentChange[]): readonly string[] =>
  changes.map((change) => {
    const { name, from, to } = change;
    return `${shortNames[name] ?? name} ${String(from)}->${String(to)}${marksOf(change)}`;
  });

/** Replicas and annotations of a shoot's dependent resources, as lines such as `kcm 0 replicas=1 active=`. */
export const stateOf = ({ world }: Scenario, shoot: string): readonly string[] =>
  world.store.list(simKinds.Deployment, world.shoot(shoot).namespace).flatMap(({ metadata, spec }) => {
    if (metadata.name === kubeApiserver) return [];
    const { replicas } = spec as { readonly replicas: number };
    const marks = marksOf({ annotations: metadata.annotations ?? {} });
    return [`${shortNames[metadata.name] ?? metadata.name} ${String(replicas)}${marks}`];
  });

/** Output of `stateOf` if every resource has one replica and no annotations of the prober. */
export const allUp: readonly string[] = ['ca 1', 'kcm 1', 'mcm 1'];
export const allHeld: readonly string[] = ['ca', 'kcm', 'mcm'].map((name) => `${name} 0 replicas=1 active=`);

/** Starts the prober and, after a minute, cuts the shoot off for another one, in which all its dependent resources become held. */
export const reachOutage = async (scenario: Scenario, shoot = 'a'): Promise<void> => {
  const { clock, world } = scenario;
  scenario.startProber();
  await clock.advance(60_000);
  world.shoot(shoot).cutKubelets();
  await clock.advance(60_000);
};

/** Edits the Shoot in a Cluster. */
export const editShoot = (scenario: Scenario, name: string, edit: (shoot: Shoot) => Shoot): void => {
  editEmbedded(scenario.world.store, scenario.world.shoot(name).namespace, edit);
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
