import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import {
  DecodeError,
  type JsonObject,
  childObject,
  childObjects,
  decodeMeta,
  decodeObject,
  decodeString,
  optionalBoolean,
  optionalList,
  optionalString,
} from '../kubernetes/api/decode.ts';
import { parseGoDuration } from '../kubernetes/api/duration.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import type { PoolConditions } from './candidate-nodes.ts';
import { type LastOperation, decodeLastOperation } from './shoot-status.ts';

/** A Cluster (`extensions.gardener.cloud/v1alpha1`). A Shoot that cannot be decoded is an error in the result: it must not affect other Clusters. */
export interface Cluster<Shoot> {
  /** Name of the Cluster and of the shoot's control-plane namespace. */
  readonly name: string;
  /** Namespace and name of the Shoot in the garden; absent if they cannot be decoded. */
  readonly shootName?: NamespacedName;
  /** Name of the seed that runs the control plane, by the Seed in the Cluster; absent if it has none. */
  readonly seedName?: string;
  readonly shoot: Result<Shoot, DecodeError>;
}

/** Decodes a Cluster. `decodeShoot` gets the Shoot and its path. Throws a DecodeError only for a Cluster without a name. */
export const decodeClusterWith = <Shoot>(
  json: unknown,
  path: string,
  decodeShoot: (shoot: JsonObject, path: string) => Shoot,
): Cluster<Shoot> => {
  const object = decodeObject(json, path);
  const cluster = {
    name: decodeMeta(object, path).name,
    shootName: decodeName(object, 'shoot'),
    seedName: decodeName(object, 'seed')?.name,
  };
  try {
    const spec = decodeObject(object.spec, 'spec');
    const shoot = decodeShoot(decodeObject(spec.shoot, 'spec.shoot'), 'spec.shoot');
    return { ...cluster, shoot: { ok: true, value: shoot } };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { ...cluster, shoot: { ok: false, error } };
  }
};

/** Returns the name of an object in a Cluster; undefined if it cannot be decoded. */
const decodeName = (cluster: JsonObject, field: 'shoot' | 'seed'): NamespacedName | undefined => {
  try {
    const { namespace, name } = decodeMeta(decodeObject(childObject(cluster, '', 'spec')[field], field), field);
    return { namespace, name };
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
};

/** The state of a Shoot (`core.gardener.cloud/v1beta1`) that decides if the shoot is probed or checked. */
export interface ShootInCluster {
  readonly deleting: boolean;
  readonly hibernationEnabled: boolean;
  /** `status.hibernated`: true while the shoot is hibernated or waking up. (The Go field is `IsHibernated`, its JSON key `hibernated`.) */
  readonly hibernated: boolean;
  readonly lastOperation?: LastOperation;
}

export const decodeShootState = (shoot: JsonObject, path: string): ShootInCluster => {
  const meta = childObject(shoot, path, 'metadata');
  const status = childObject(shoot, path, 'status');
  const hibernation = childObject(childObject(shoot, path, 'spec'), `${path}.spec`, 'hibernation');
  return {
    deleting: optionalString(meta.deletionTimestamp, `${path}.metadata.deletionTimestamp`) !== undefined,
    hibernationEnabled: optionalBoolean(hibernation.enabled, `${path}.spec.hibernation.enabled`) ?? false,
    hibernated: optionalBoolean(status.hibernated, `${path}.status.hibernated`) ?? false,
    lastOperation: decodeLastOperation(status, `${path}.status`),
  };
};

/** A Shoot as the prober needs it. */
export interface ShootView extends Omit<ShootInCluster, 'lastOperation'> {
  readonly lastOperation?: Pick<LastOperation, 'type' | 'state'>;
  readonly hasWorkers: boolean;
  readonly poolConditions: PoolConditions;
  /** The shoot's own node monitor grace period, in milliseconds. */
  readonly nodeMonitorGraceMs?: number;
}

export type ClusterView = Cluster<ShootView>;

export const decodeCluster = (json: unknown, path: string): ClusterView =>
  decodeClusterWith(json, path, (shoot, at) => {
    const spec = childObject(shoot, at, 'spec');
    return {
      ...decodeShootState(shoot, at),
      ...decodePools(spec, `${at}.spec`),
      nodeMonitorGraceMs: decodeGrace(spec, `${at}.spec`),
    };
  });

/** Returns the worker pools in the `spec` of a Shoot. */
export const decodeWorkers = (spec: JsonObject, path: string): ReturnType<typeof childObjects> =>
  childObjects(childObject(spec, path, 'provider'), `${path}.provider`, 'workers');

const decodePools = (spec: JsonObject, path: string): Pick<ShootView, 'hasWorkers' | 'poolConditions'> => {
  const workers = decodeWorkers(spec, path);
  const poolConditions = new Map<string, readonly string[]>();
  for (const { object: worker, path: at } of workers) {
    const manager = childObject(worker, at, 'machineControllerManager');
    const conditions = optionalList(manager.nodeConditions, `${at}.machineControllerManager.nodeConditions`) ?? [];
    if (conditions.length === 0) continue;
    const types = conditions.map((type, nth) => decodeString(type, `${at}.nodeConditions[${String(nth)}]`));
    poolConditions.set(decodeString(worker.name, `${at}.name`), types);
  }
  return { hasWorkers: workers.length > 0, poolConditions };
};

const decodeGrace = (spec: JsonObject, path: string): number | undefined => {
  const kubernetes = childObject(spec, path, 'kubernetes');
  const at = `${path}.kubernetes.kubeControllerManager`;
  const manager = childObject(kubernetes, `${path}.kubernetes`, 'kubeControllerManager');
  const text = optionalString(manager.nodeMonitorGracePeriod, `${at}.nodeMonitorGracePeriod`);
  if (text === undefined) return undefined;
  const duration = parseGoDuration(text);
  if (!duration.ok || duration.value <= 0) {
    throw new DecodeError(`${at}.nodeMonitorGracePeriod`, 'a duration greater than 0', text);
  }
  return duration.value;
};
