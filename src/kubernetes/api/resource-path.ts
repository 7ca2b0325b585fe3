/** The path of a group version, such as `v1` (the core group) or `apps/v1`. */
export const groupVersionPath = (apiVersion: string): string =>
  apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;

export interface ResourcePlace {
  readonly apiVersion: string;
  /** Plural. */
  readonly resource: string;
  /** Absent: in all namespaces, or the resource has none. */
  readonly namespace?: string | undefined;
  /** Absent: the collection. */
  readonly name?: string;
}

/** The path of an object or a collection, its names URI-encoded. */
export const resourcePath = ({ apiVersion, resource, namespace, name }: ResourcePlace): string => {
  const within = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const one = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${groupVersionPath(apiVersion)}${within}/${resource}${one}`;
};
