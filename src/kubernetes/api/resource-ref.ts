export interface ResourceRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** `apiVersion/kind/name`: identifies a dependent resource within a namespace. */
export const refKey = (ref: ResourceRef): string => `${ref.apiVersion}/${ref.kind}/${ref.name}`;

/** API group of a kind; empty for the core group. */
export const groupOf = ({ apiVersion }: Pick<ResourceRef, 'apiVersion'>): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
