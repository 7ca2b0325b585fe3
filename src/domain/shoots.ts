import {
  type JsonObject,
  DecodeError,
  decodeMeta,
  decodeObject,
  decodeString,
  optionalBoolean,
  optionalList,
  optionalObject,
  optionalString,
} from './decode.ts';
import { parseGoDuration } from './duration.ts';
import type { Result } from './errors.ts';
import type { PoolConditions } from './nodes.ts';

/** What counts of a Shoot (`core.gardener.cloud/v1beta1`), as a Cluster embeds it. */
export interface ShootView {
  readonly deleting: boolean;
  readonly hibernationEnabled: boolean;
  /** `status.hibernated`: asleep, or not fully awake again. (Go's field is `IsHibernated`; its JSON key is not.) */
  readonly hibernated: boolean;
  readonly lastOperation?: { readonly type: string; readonly state: string };
  readonly hasWorkers: boolean;
  readonly poolConditions: PoolConditions;
  /** The shoot's own node monitor grace period, in milliseconds. */
  readonly nodeMonitorGraceMs?: number;
}

/** A Cluster (`extensions.gardener.cloud/v1alpha1`). One that cannot be decoded is data too: it must not stop the others. */
export interface ClusterView {
  /** Also the shoot's control-plane namespace. */
  readonly name: string;
  readonly shoot: Result<ShootView, DecodeError>;
}

export const decodeCluster = (json: unknown, path: string): ClusterView => {
  const object = decodeObject(json, path);
  const { name } = decodeMeta(object, path);
  try {
    const spec = decodeObject(object.spec, 'spec');
    const shoot = decodeShoot(decodeObject(spec.shoot, 'spec.shoot'), 'spec.shoot');
    return { name, shoot: { ok: true, value: shoot } };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { name, shoot: { ok: false, error } };
  }
};

const decodeShoot = (shoot: JsonObject, path: string): ShootView => {
  const meta = optionalObject(shoot.metadata, `${path}.metadata`) ?? {};
  const spec = optionalObject(shoot.spec, `${path}.spec`) ?? {};
  const status = optionalObject(shoot.status, `${path}.status`) ?? {};
  const hibernation = optionalObject(spec.hibernation, `${path}.spec.hibernation`) ?? {};
  const lastOperation = optionalObject(status.lastOperation, `${path}.status.lastOperation`);
  const workers = decodeWorkers(spec, `${path}.spec`);
  const grace = decodeGrace(spec, `${path}.spec`);
  return {
    deleting: optionalString(meta.deletionTimestamp, `${path}.metadata.deletionTimestamp`) !== undefined,
    hibernationEnabled: optionalBoolean(hibernation.enabled, `${path}.spec.hibernation.enabled`) ?? false,
    hibernated: optionalBoolean(status.hibernated, `${path}.status.hibernated`) ?? false,
    ...(lastOperation === undefined
      ? {}
      : {
          lastOperation: {
            type: optionalString(lastOperation.type, `${path}.status.lastOperation.type`) ?? '',
            state: optionalString(lastOperation.state, `${path}.status.lastOperation.state`) ?? '',
          },
        }),
    ...workers,
    ...(grace === undefined ? {} : { nodeMonitorGraceMs: grace }),
  };
};

const decodeWorkers = (spec: JsonObject, path: string): Pick<ShootView, 'hasWorkers' | 'poolConditions'> => {
  const provider = optionalObject(spec.provider, `${path}.provider`) ?? {};
  const workers = optionalList(provider.workers, `${path}.provider.workers`) ?? [];
  const poolConditions = new Map<string, readonly string[]>();
  for (const [index, item] of workers.entries()) {
    const at = `${path}.provider.workers[${String(index)}]`;
    const worker = decodeObject(item, at);
    const manager = optionalObject(worker.machineControllerManager, `${at}.machineControllerManager`) ?? {};
    const conditions = optionalList(manager.nodeConditions, `${at}.machineControllerManager.nodeConditions`) ?? [];
    if (conditions.length === 0) continue;
    const types = conditions.map((type, nth) => decodeString(type, `${at}.nodeConditions[${String(nth)}]`));
    poolConditions.set(decodeString(worker.name, `${at}.name`), types);
  }
  return { hasWorkers: workers.length > 0, poolConditions };
};

const decodeGrace = (spec: JsonObject, path: string): number | undefined => {
  const kubernetes = optionalObject(spec.kubernetes, `${path}.kubernetes`) ?? {};
  const at = `${path}.kubernetes.kubeControllerManager`;
  const manager = optionalObject(kubernetes.kubeControllerManager, at) ?? {};
  const text = optionalString(manager.nodeMonitorGracePeriod, `${at}.nodeMonitorGracePeriod`);
  if (text === undefined) return undefined;
  const duration = parseGoDuration(text);
  if (!duration.ok || duration.value <= 0) {
    throw new DecodeError(`${at}.nodeMonitorGracePeriod`, 'a duration greater than 0', text);
  }
  return duration.value;
};
