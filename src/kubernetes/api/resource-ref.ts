export interface ResourceRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** Reference to an object whose kind is known. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** Identifies a dependent resource among those of a cluster: `apiVersion/kind/name`, or `apiVersion/kind/namespace/name` if it has a namespace. */
export const refKey = ({ apiVersion, kind, name, namespace }: ResourceRef & { readonly namespace?: string }): string =>
  [apiVersion, kind, ...(namespace === undefined ? [] : [namespace]), name].join('/');

/** Returns the API group; empty for the core group. */
export const groupOf = ({ apiVersion }: Pick<ResourceRef, 'apiVersion'>): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
