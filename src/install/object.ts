import { type JsonObject, decodeMeta, decodeObject, decodeString } from '../kubernetes/api/decode.ts';

/** A Kubernetes object of any kind. */
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

/** The objects of one component, in the order of their creation. */
export interface InstalledComponent {
  /** Name of the component: `prober`, `weeder`, `care`, or another one of `dwd manifests`. */
  readonly component: string;
  readonly objects: readonly KubeObject[];
}

/** Field manager of an installation. Components scale under another name (`scalingFieldManager`). */
export const fieldManager = 'dwd';

const prefix = 'dependency-watchdog.gardener.cloud/';
/** Label with the namespace of the installation, so that two in one cluster do not touch each other's objects. */
const installationLabel = `${prefix}installation`;
/** Label with the component, so that an installation of one removes no objects of another. */
export const componentLabel = `${prefix}component`;
const managedByLabel = 'app.kubernetes.io/managed-by';

/** Selects all objects of an installation, of any version, including those that Helm or kubectl created: Helm sets `managed-by` to its own name. */
export const installationSelector = (namespace: string): string => `${installationLabel}=${namespace}`;

/** True if the object has no labels of the installation in this namespace: it was created without any, or copied from another. */
export const isUnlabelled = ({ metadata }: KubeObject, namespace: string): boolean =>
  metadata.labels?.[installationLabel] !== namespace;

/**
 * Annotation on all objects that gardener-resource-manager manages (`pkg/resourcemanager/controller/managedresource/merger.go`). It reverts changes of others.
 */
const gardenersAnnotation = 'resources.gardener.cloud/origin';

/** True if gardener-resource-manager manages the object, so that nobody else can install over it. */
export const isGardeners = ({ metadata }: KubeObject): boolean =>
  Object.hasOwn(metadata.annotations ?? {}, gardenersAnnotation);

export interface Ownership {
  /** Namespace of the installation. */
  readonly namespace: string;
  readonly component: string;
}

/** Returns the labels by which an object of an installation is found. Pods and selectors do not get them, because a selector is immutable. */
export const installationLabels = ({ namespace, component }: Ownership): Readonly<Record<string, string>> => ({
  [installationLabel]: namespace,
  [componentLabel]: component,
});

/** Adds these labels, and the name of the manager, to an object. */
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

/** Decodes an object. Items in a list of a built-in kind have no kind: `given` supplies it. */
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

/** Returns the texts of the files in a ConfigMap. */
export const configTexts = ({ data }: KubeObject): readonly string[] =>
  Object.values((data ?? {}) as Readonly<Record<string, string>>);

/** Returns the rules of a Role or a ClusterRole. */
export const rulesOf = ({ rules }: KubeObject): readonly JsonObject[] =>
  Array.isArray(rules) ? (rules as JsonObject[]) : [];

/** Formats an object: `Deployment garden/dependency-watchdog-prober`. */
export const nameOf = ({ kind, metadata: { name, namespace } }: KubeObject): string =>
  `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;

/** Returns a key of the object that does not depend on the version of its API. */
export const identityOf = ({ apiVersion, kind, metadata: { name, namespace = '' } }: KubeObject): string => {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  return [group, kind, namespace, name].join('/');
};
