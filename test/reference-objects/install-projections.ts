import { differencesOf } from '../../src/install/diff.ts';
import { createdAt, mountedBy } from '../../src/install/installed-settings.ts';
import { selectorOf } from '../../src/install/inventory.ts';
import {
  type KubeObject,
  configTexts,
  decodeKubeObject,
  isGardeners,
  nameOf,
  rulesOf,
} from '../../src/install/object.ts';
import { runsProber } from '../../src/install/other-prober.ts';
import { isOwned } from '../../src/install/plan.ts';
import { decodeRollout } from '../../src/install/rollout.ts';
import { replicasOf } from '../../src/install/stopped.ts';
import { conditionsOf, decodeWarning, podProblems } from '../../src/install/not-ready-reasons.ts';
import type { FixtureObject } from './fixture.ts';
import type { Projection } from './projection.ts';

const ofKind =
  (kind: string, view: (object: KubeObject) => unknown) =>
  (json: unknown): unknown =>
    view(decodeKubeObject({ apiVersion: 'v1', kind })(json));

/** Returns the object with other owners of the same names. */
const withOtherOwners = (object: KubeObject): KubeObject => {
  const { ownerReferences = [] } = object.metadata as { readonly ownerReferences?: readonly FixtureObject[] };
  const others = ownerReferences.map((owner) => ({ ...owner, uid: 'other' }));
  return { ...object, metadata: { ...object.metadata, ownerReferences: others } };
};

/** Projections with which `dwd install` reads the objects that it has applied, and their status. */
export const installProjections: readonly Projection[] = [
  {
    name: 'Deployment of an installation',
    kind: 'Deployment',
    project: ofKind('Deployment', (object) => ({
      name: nameOf(object),
      rollout: decodeRollout(object),
      selector: selectorOf(object),
      configMaps: mountedBy(object),
      createdAt: createdAt(object),
      conditions: conditionsOf(object),
      isOwned: isOwned(object),
      isGardeners: isGardeners(object),
    })),
    set: {
      'status.conditions[].type': 'ReplicaFailure',
      'status.conditions[].status': 'True',
      'metadata.managedFields[].manager': 'dwd',
      'metadata.managedFields[].operation': 'Apply',
    },
  },
  {
    name: 'Deployment that is stopped for an uninstallation',
    kind: 'Deployment',
    project: ofKind('Deployment', replicasOf),
  },
  {
    name: 'Deployment that runs a prober',
    kind: 'Deployment',
    project: ofKind('Deployment', (object) => (runsProber(object) ? ['a prober'] : [])),
    set: {
      'spec.template.spec.containers[].command': ['prober'],
      'spec.template.spec.containers[].args': ['--config-file=config.yaml'],
    },
  },
  {
    name: 'ClusterRole of an installation',
    kind: 'ClusterRole',
    project: ofKind('ClusterRole', rulesOf),
  },
  {
    name: 'Pod that is not ready',
    kind: 'Pod',
    project: ofKind('Pod', podProblems),
    set: { 'status.conditions[].status': 'False' },
  },
  { name: 'Event about a pod', kind: 'Event', project: decodeWarning },
  { name: 'ConfigMap of an installation', kind: 'ConfigMap', project: ofKind('ConfigMap', configTexts) },
  {
    name: 'Secret as it is and as it would be',
    kind: 'Secret',
    project: ofKind('Secret', (object) => differencesOf(object, withOtherOwners(object))),
  },
];
