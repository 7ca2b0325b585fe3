import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import {
  type JsonObject,
  childObject,
  decodeMeta,
  decodeObject,
  decodeString,
  optionalBoolean,
  optionalInteger,
  optionalList,
  optionalString,
} from '../kubernetes/api/decode.ts';
import { type Cluster, decodeClusterWith, decodeShootState, decodeWorkers } from './cluster.ts';
import { type Condition, decodeConditions, storedConditions } from './condition.ts';
import type { ShootProgress } from './shoot-status.ts';

export interface WorkerPool {
  readonly name: string;
  readonly minimum: number;
  readonly maximum: number;
  /** Desired Kubernetes version of its nodes, such as `1.33.2`. */
  readonly kubernetesVersion: string;
}

/** A Shoot as care needs it, read from the garden or from a Cluster. */
export interface CareShoot extends ShootProgress, NamespacedName {
  /** `status.uid`, part of the names of BackupEntries. */
  readonly uid: string;
  /** The seed of its control plane; empty while unknown. */
  readonly seedName: string;
  readonly labels: Readonly<Record<string, string>>;
  /** True if the Shoot is hibernated, or hibernation is enabled. */
  readonly hibernated: boolean;
  readonly purpose: string;
  /** Empty for workerless shoots. */
  readonly pools: readonly WorkerPool[];
  readonly vpaEnabled: boolean;
  readonly conditions: readonly Condition[];
}

/** Returns a Shoot with a name and nothing else. */
export const bareShoot = (name: NamespacedName): CareShoot => ({
  ...name,
  uid: '',
  seedName: '',
  labels: {},
  hibernated: false,
  purpose: '',
  pools: [],
  vpaEnabled: false,
  hasLastErrors: false,
  conditions: [],
});

/** A Shoot in the garden, with everything that a write of its status needs. */
export interface GardenShoot {
  readonly shoot: CareShoot;
  readonly resourceVersion: string;
  readonly metadata: JsonObject;
  /** The stored conditions with all their fields: care writes those of other writers back unchanged. */
  readonly storedConditions: readonly JsonObject[];
}

const decodePools = (spec: JsonObject, path: string): readonly WorkerPool[] => {
  const ownVersion = versionOf(spec, path);
  return decodeWorkers(spec, path).map(({ object: worker, path: at }) => ({
    name: decodeString(worker.name, `${at}.name`),
    minimum: optionalInteger(worker.minimum, `${at}.minimum`) ?? 0,
    maximum: optionalInteger(worker.maximum, `${at}.maximum`) ?? 0,
    kubernetesVersion: versionOf(worker, at) || ownVersion,
  }));
};

const versionOf = (object: JsonObject, path: string): string =>
  optionalString(childObject(object, path, 'kubernetes').version, `${path}.kubernetes.version`) ?? '';

const decodeSpec = (spec: JsonObject, path: string): Pick<CareShoot, 'purpose' | 'pools' | 'vpaEnabled'> => {
  const kubernetes = childObject(spec, path, 'kubernetes');
  const autoscaler = childObject(kubernetes, `${path}.kubernetes`, 'verticalPodAutoscaler');
  return {
    purpose: optionalString(spec.purpose, `${path}.purpose`) ?? '',
    pools: decodePools(spec, path),
    vpaEnabled: optionalBoolean(autoscaler.enabled, `${path}.kubernetes.verticalPodAutoscaler.enabled`) ?? false,
  };
};

const decodeShoot = (object: JsonObject, path: string): CareShoot => {
  const { namespace, name, labels } = decodeMeta(object, path);
  const { hibernationEnabled, hibernated, lastOperation } = decodeShootState(object, path);
  const spec = childObject(object, path, 'spec');
  const status = childObject(object, path, 'status');
  const text = (parent: JsonObject, at: string, field: string): string =>
    optionalString(parent[field], `${path}.${at}.${field}`) ?? '';
  return {
    namespace,
    name,
    uid: text(status, 'status', 'uid'),
    seedName: text(status, 'status', 'seedName') || text(spec, 'spec', 'seedName'),
    labels,
    hibernated: hibernationEnabled || hibernated,
    ...decodeSpec(spec, `${path}.spec`),
    lastOperation,
    hasLastErrors: (optionalList(status.lastErrors, `${path}.status.lastErrors`) ?? []).length > 0,
    conditions: decodeConditions(status, `${path}.status`),
  };
};

export const decodeCareCluster = (json: unknown, path: string): Cluster<CareShoot> =>
  decodeClusterWith(json, path, decodeShoot);

export const decodeGardenShoot = (json: unknown): GardenShoot => {
  const object = decodeObject(json, 'shoot');
  return {
    shoot: decodeShoot(object, 'shoot'),
    resourceVersion: decodeMeta(object, 'shoot').resourceVersion,
    metadata: decodeObject(object.metadata, 'shoot.metadata'),
    storedConditions: storedConditions(object, 'shoot'),
  };
};
