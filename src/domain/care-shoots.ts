import { type Condition, decodeConditions } from './conditions.ts';
import {
  type JsonObject,
  DecodeError,
  decodeMeta,
  decodeObject,
  decodeString,
  optionalBoolean,
  optionalInteger,
  optionalList,
  optionalObject,
  optionalString,
} from './decode.ts';
import type { NamespacedName } from './health-calls.ts';
import type { Result } from './errors.ts';
import { type ShootProgress, decodeLastOperation } from './shoot-status.ts';

export interface WorkerPool {
  readonly name: string;
  readonly minimum: number;
  readonly maximum: number;
  /** What its nodes shall run, such as `1.33.2`. */
  readonly kubernetesVersion: string;
}

/** What counts of a Shoot (`core.gardener.cloud/v1beta1`) for its health, from the garden or as a Cluster embeds it. */
export interface CareShoot extends ShootProgress, NamespacedName {
  /** `status.uid`, which BackupEntries are named by. */
  readonly uid: string;
  /** The seed that its control plane is on; empty while it is not known. */
  readonly seedName: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Hibernated, or to be hibernated. */
  readonly hibernated: boolean;
  readonly purpose: string;
  /** Empty for workerless shoots. */
  readonly pools: readonly WorkerPool[];
  readonly vpaEnabled: boolean;
  readonly conditions: readonly Condition[];
}

/** A Cluster (`extensions.gardener.cloud/v1alpha1`). One that cannot be decoded is data too: it must not stop the others. */
export interface CareCluster {
  /** Also the shoot's control-plane namespace. */
  readonly name: string;
  /** The seed that the Cluster is on; empty where it does not say. */
  readonly seedName: string;
  readonly shoot: Result<CareShoot, DecodeError>;
  /** Of the Shoot in the garden; absent where not even that can be decoded. */
  readonly shootName?: NamespacedName;
}

/** A Shoot in the garden, with what it takes to write to it. */
export interface GardenShoot {
  readonly shoot: CareShoot;
  readonly resourceVersion: string;
  readonly metadata: JsonObject;
  /** The stored conditions with all their fields: those of others are written back as they are. */
  readonly storedConditions: readonly JsonObject[];
}

/** A reader of nested objects; those that are absent are empty. */
const child = (object: JsonObject, path: string, field: string): JsonObject =>
  optionalObject(object[field], `${path}.${field}`) ?? {};

const decodePools = (spec: JsonObject, path: string): readonly WorkerPool[] => {
  const ownVersion = versionOf(spec, path);
  const provider = child(spec, path, 'provider');
  return (optionalList(provider.workers, `${path}.provider.workers`) ?? []).map((item, index) => {
    const at = `${path}.provider.workers[${String(index)}]`;
    const worker = decodeObject(item, at);
    return {
      name: decodeString(worker.name, `${at}.name`),
      minimum: optionalInteger(worker.minimum, `${at}.minimum`) ?? 0,
      maximum: optionalInteger(worker.maximum, `${at}.maximum`) ?? 0,
      kubernetesVersion: versionOf(worker, at) || ownVersion,
    };
  });
};

const versionOf = (object: JsonObject, path: string): string =>
  optionalString(child(object, path, 'kubernetes').version, `${path}.kubernetes.version`) ?? '';

const decodeSpec = (spec: JsonObject, path: string): Pick<CareShoot, 'purpose' | 'pools' | 'vpaEnabled'> => {
  const kubernetes = child(spec, path, 'kubernetes');
  const autoscaler = child(kubernetes, `${path}.kubernetes`, 'verticalPodAutoscaler');
  return {
    purpose: optionalString(spec.purpose, `${path}.purpose`) ?? '',
    pools: decodePools(spec, path),
    vpaEnabled: optionalBoolean(autoscaler.enabled, `${path}.kubernetes.verticalPodAutoscaler.enabled`) ?? false,
  };
};

const decodeShoot = (object: JsonObject, path: string): CareShoot => {
  const meta = decodeMeta(object, path);
  const spec = child(object, path, 'spec');
  const status = child(object, path, 'status');
  const hibernation = child(spec, `${path}.spec`, 'hibernation');
  const text = (parent: JsonObject, at: string, field: string): string =>
    optionalString(parent[field], `${path}.${at}.${field}`) ?? '';
  const hibernated = optionalBoolean(status.hibernated, `${path}.status.hibernated`) ?? false;
  const lastOperation = decodeLastOperation(status, `${path}.status`);
  return {
    namespace: meta.namespace,
    name: meta.name,
    uid: text(status, 'status', 'uid'),
    seedName: text(status, 'status', 'seedName') || text(spec, 'spec', 'seedName'),
    labels: meta.labels,
    hibernated: (optionalBoolean(hibernation.enabled, `${path}.spec.hibernation.enabled`) ?? false) || hibernated,
    ...decodeSpec(spec, `${path}.spec`),
    ...(lastOperation === undefined ? {} : { lastOperation }),
    hasLastErrors: (optionalList(status.lastErrors, `${path}.status.lastErrors`) ?? []).length > 0,
    conditions: decodeConditions(status, `${path}.status`),
  };
};

const decodeShootName = (object: JsonObject): NamespacedName | undefined => {
  try {
    const { namespace, name } = decodeMeta(decodeObject(child(object, 'cluster', 'spec').shoot, 'shoot'), 'shoot');
    return { namespace, name };
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
};

export const decodeCareCluster = (json: unknown, path: string): CareCluster => {
  const object = decodeObject(json, path);
  const { name } = decodeMeta(object, path);
  try {
    const spec = decodeObject(object.spec, 'spec');
    const seed = child(child(spec, 'spec', 'seed'), 'spec.seed', 'metadata');
    const seedName = optionalString(seed.name, 'spec.seed.metadata.name') ?? '';
    const shoot = decodeShoot(decodeObject(spec.shoot, 'spec.shoot'), 'spec.shoot');
    return {
      name,
      seedName,
      shoot: { ok: true, value: shoot },
      shootName: { namespace: shoot.namespace, name: shoot.name },
    };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const shootName = decodeShootName(object);
    return { name, seedName: '', shoot: { ok: false, error }, ...(shootName === undefined ? {} : { shootName }) };
  }
};

export const decodeGardenShoot = (json: unknown): GardenShoot => {
  const object = decodeObject(json, 'shoot');
  const status = child(object, 'shoot', 'status');
  const stored = optionalList(status.conditions, 'shoot.status.conditions') ?? [];
  return {
    shoot: decodeShoot(object, 'shoot'),
    resourceVersion: decodeMeta(object, 'shoot').resourceVersion,
    metadata: decodeObject(object.metadata, 'shoot.metadata'),
    storedConditions: stored.map((item, index) => decodeObject(item, `shoot.status.conditions[${String(index)}]`)),
  };
};
