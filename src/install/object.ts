import { type JsonObject, decodeMeta, decodeObject, decodeString } from '../kubernetes/api/decode.ts';

/** A Kubernetes object of whatever kind. */
export interface KubeObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** The objects of one component, in the order in which they are to be created. */
export interface InstalledComponent {
  /** `prober`, `weeder`, `care` and what else `dwd manifests` prints. */
  readonly component: string;
  readonly objects: readonly KubeObject[];
}

/** Field manager of an installation. Scaling is done under another name (`scalingFieldManager`). */
export const fieldManager = 'dwd';

const prefix = 'dependency-watchdog.gardener.cloud/';
/** Namespace of the installation: two in one cluster leave each other's objects alone. */
const installationLabel = `${prefix}installation`;
/** An installation of one component removes nothing of another. */
export const componentLabel = `${prefix}component`;
const managedByLabel = 'app.kubernetes.io/managed-by';

/** Selects all objects of an installation, of any version, also those that Helm or kubectl made: Helm sets `managed-by` to its own name. */
export const installationSelector = (namespace: string): string => `${installationLabel}=${namespace}`;

/** True of what bears no labels of the installation in this namespace: made without any, or copied from another. */
export const isUnlabelled = ({ metadata }: KubeObject, namespace: string): boolean =>
  metadata.labels?.[installationLabel] !== namespace;

/** What gardener's resource manager sets on all that it manages (`pkg/resourcemanager/controller/managedresource/merger.go`), and puts back. */
const gardenersAnnotation = 'resources.gardener.cloud/origin';

/** True if nobody else can install over it. */
export const isGardeners = ({ metadata }: KubeObject): boolean =>
  Object.hasOwn(metadata.annotations ?? {}, gardenersAnnotation);

export interface Ownership {
  /** Namespace of the installation. */
  readonly namespace: string;
  readonly component: string;
}

/** The labels by which an object of an installation is found. Pods and selectors stay as they are: a selector cannot change. */
export const installationLabels = ({ namespace, component }: Ownership): Readonly<Record<string, string>> => ({
  [installationLabel]: namespace,
  [componentLabel]: component,
});

/** The object with these labels, and with the name of its manager. */
export const ownedBy = (object: KubeObject, ownership: Ownership): KubeObject => ({
  ...object,
  metadata: {
    ...object.metadata,
    labels: {
      ...object.metadata.labels,
      [managedByLabel]: fieldManager,
      ...installationLabels(ownership),
    },
  },
});

/** Items of a list of a built-in kind do not say their kind. */
export const decodeKubeObject =
  (given?: { readonly apiVersion: string; readonly kind: string }) =>
  (json: unknown, path = 'object'): KubeObject => {
    const object = decodeObject(json, path);
    decodeMeta(object, path);
    return {
      ...object,
      apiVersion: given?.apiVersion ?? decodeString(object.apiVersion, `${path}.apiVersion`),
      kind: given?.kind ?? decodeString(object.kind, `${path}.kind`),
      metadata: object.metadata as KubeObject['metadata'],
    };
  };

/** The files of a ConfigMap. */
export const configTexts = ({ data }: KubeObject): readonly string[] =>
  Object.values((data ?? {}) as Readonly<Record<string, string>>);

/** Of a Role or a ClusterRole. */
export const rulesOf = ({ rules }: KubeObject): readonly JsonObject[] =>
  Array.isArray(rules) ? (rules as JsonObject[]) : [];

/** `Deployment garden/dependency-watchdog-prober`. */
export const nameOf = ({ kind, metadata: { name, namespace } }: KubeObject): string =>
  `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;

/** Of objects, whatever version of their API they are written in. */
export const identityOf = ({ apiVersion, kind, metadata: { name, namespace = '' } }: KubeObject): string => {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  return [group, kind, namespace, name].join('/');
};
