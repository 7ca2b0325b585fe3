/** Returns the path of a group version, such as `v1` (the core group) or `apps/v1`. */
export const groupVersionPath = (apiVersion: string): string =>
  apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;

export interface ResourcePlace {
  readonly apiVersion: string;
  /** Plural. */
  readonly resource: string;
  /** Absent: all namespaces, or a cluster-scoped resource. */
  readonly namespace?: string | undefined;
  /** Absent: the collection. */
  readonly name?: string;
}

/** Returns the path of an object or a collection, with URI-encoded names. */
export const resourcePath = ({ apiVersion, resource, namespace, name }: ResourcePlace): string => {
  const within = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const one = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${groupVersionPath(apiVersion)}${within}/${resource}${one}`;
};
