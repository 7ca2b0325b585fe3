export interface ResourceRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** Of an object whose kind is known. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** `apiVersion/kind/name`, or `apiVersion/kind/namespace/name` where it says its namespace: identifies a dependent resource among those of a cluster. */
export const refKey = ({ apiVersion, kind, name, namespace }: ResourceRef & { readonly namespace?: string }): string =>
  [apiVersion, kind, ...(namespace === undefined ? [] : [namespace]), name].join('/');

/** API group of a kind; empty for the core group. */
export const groupOf = ({ apiVersion }: Pick<ResourceRef, 'apiVersion'>): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
