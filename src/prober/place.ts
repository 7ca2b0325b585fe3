import type { NamespacedName, ResourceRef } from '../kubernetes/api/resource-ref.ts';

/** Where the control plane of a cluster is. */
export interface Place {
  readonly namespace: string;
  /** Name of the cluster; its namespace where each cluster has one of its own. */
  readonly cluster: string;
}

/** A cluster goes everywhere by one name: its namespace, or `namespace/cluster` where several share one. */
export const placeOf = (name: string): Place => {
  const at = name.indexOf('/');
  return at < 0 ? { namespace: name, cluster: name } : { namespace: name.slice(0, at), cluster: name.slice(at + 1) };
};

/** A resource that every cluster has. Name and namespace may have a placeholder, in double braces, for a part of the cluster's name. */
export interface PlacedRef extends ResourceRef {
  /** Absent: the namespace of the control plane. */
  readonly namespace?: string;
}

const placeholders = ['namespace', 'cluster'] as const;
type Placeholder = (typeof placeholders)[number];

const inBraces = /\{\{ ?(namespace|cluster) ?\}\}/g;

/** Each placeholder of a text, in order. */
export const placeholdersIn = (text: string): readonly Placeholder[] =>
  Array.from(
    text.matchAll(inBraces),
    ([, found]) => placeholders.find((placeholder) => placeholder === found) ?? 'cluster',
  );

export const isTemplate = (text: string): boolean => placeholdersIn(text).length > 0;

/** The text without its placeholders: braces that are left are none of ours. */
export const withoutPlaceholders = (text: string): string => text.replaceAll(inBraces, '');

export const fillIn = (text: string, name: string): string => {
  const { namespace, cluster } = placeOf(name);
  return text.replaceAll(inBraces, (_, placeholder: string) => (placeholder === 'namespace' ? namespace : cluster));
};

/** What the one placeholder of a template is in this text, empty where the template has none; undefined: the text does not match. */
export const placeholderValue = (template: string, text: string): string | undefined => {
  const [before = '', , after] = template.split(inBraces);
  if (after === undefined) return text === template ? '' : undefined;
  const fits = text.length > before.length + after.length && text.startsWith(before) && text.endsWith(after);
  return fits ? text.slice(before.length, text.length - after.length) : undefined;
};

const namespaceTemplate = '{{ namespace }}';

/** True of the namespace of the control plane, which is that of a resource without one. */
export const isOwnNamespace = (template: string): boolean =>
  template.replace(inBraces, '$1') === 'namespace' && isTemplate(template);

/**
 * Name of the cluster whose resource an object is; undefined: of none. An object whose name has nothing of a cluster goes by its namespace alone. A template has
 * at most one placeholder (config-rules.ts), so that the answer of each is unique; of-cluster.ts chooses among several.
 */
export const clusterOf = (
  { name, namespace = namespaceTemplate }: Pick<PlacedRef, 'name' | 'namespace'>,
  object: NamespacedName,
  sharesNamespaces: boolean,
): string | undefined => {
  const found: { namespace?: string; cluster?: string } = {};
  for (const [template, text] of [
    [name, object.name],
    [namespace, object.namespace],
  ] as const) {
    const value = placeholderValue(template, text);
    if (value === undefined) return undefined;
    const [placeholder] = placeholdersIn(template);
    if (placeholder === undefined) continue;
    if ((found[placeholder] ?? value) !== value) return undefined;
    found[placeholder] = value;
  }
  // Without a placeholder for its namespace, a cluster that has one of its own is named like it.
  const place = found.namespace ?? found.cluster;
  if (found.cluster === undefined) return place;
  if (sharesNamespaces) return `${place ?? ''}/${found.cluster}`;
  return found.cluster === place ? place : undefined;
};

/** The Namespace of a cluster, for Events about all of it. */
export const namespaceRef = (cluster: string): ResourceRef & { readonly namespace: string } => {
  const { namespace } = placeOf(cluster);
  return { apiVersion: 'v1', kind: 'Namespace', name: namespace, namespace };
};

/** The message of an Event: it names a cluster that shares its Namespace, which the Event is on, with others. */
export const eventMessage = (cluster: string, message: string): string =>
  cluster.includes('/') ? `${cluster}: ${message}` : message;

/** As a store has the resource of a cluster: `namespace/name`. The reference has no placeholders left. */
export const objectKey = ({ name, namespace }: PlacedRef, cluster: string): string =>
  `${namespace ?? placeOf(cluster).namespace}/${name}`;
