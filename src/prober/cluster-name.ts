import type { NamespacedName, ResourceRef } from '../kubernetes/api/resource-ref.ts';

/** Location of the control plane of a cluster. */
export interface ClusterName {
  readonly namespace: string;
  /** Name of the cluster; equal to the namespace if each cluster has its own. */
  readonly cluster: string;
}

/** Splits the name by which the prober knows a cluster: its namespace, or `namespace/cluster` if several share one. */
export const parseClusterName = (name: string): ClusterName => {
  const at = name.indexOf('/');
  return at < 0 ? { namespace: name, cluster: name } : { namespace: name.slice(0, at), cluster: name.slice(at + 1) };
};

/** A resource that every cluster has. Name and namespace may have a placeholder, in double braces, for a part of the cluster's name. */
export interface RefTemplate extends ResourceRef {
  /** Absent: the namespace of the control plane. */
  readonly namespace?: string;
}

const placeholders = ['namespace', 'cluster'] as const;
type Placeholder = (typeof placeholders)[number];

const inBraces = /\{\{ ?(namespace|cluster) ?\}\}/g;

/** Returns the placeholders of a text, in order. */
export const placeholdersIn = (text: string): readonly Placeholder[] =>
  Array.from(
    text.matchAll(inBraces),
    ([, found]) => placeholders.find((placeholder) => placeholder === found) ?? 'cluster',
  );

export const isTemplate = (text: string): boolean => placeholdersIn(text).length > 0;

/** Returns the text without its placeholders. Braces that are left are none of ours. */
export const withoutPlaceholders = (text: string): string => text.replaceAll(inBraces, '');

export const fillTemplate = (text: string, name: string): string => {
  const { namespace, cluster } = parseClusterName(name);
  return text.replaceAll(inBraces, (_, placeholder: string) => (placeholder === 'namespace' ? namespace : cluster));
};

/** Returns the value of a template's one placeholder in this text, empty if the template has none; undefined if the text does not match. */
export const placeholderValue = (template: string, text: string): string | undefined => {
  const [before = '', , after] = template.split(inBraces);
  if (after === undefined) return text === template ? '' : undefined;
  const fits = text.length > before.length + after.length && text.startsWith(before) && text.endsWith(after);
  return fits ? text.slice(before.length, text.length - after.length) : undefined;
};

const namespaceTemplate = '{{ namespace }}';

/** True if the template is the namespace of the control plane, which is also the namespace of a resource without one. */
export const isOwnNamespace = (template: string): boolean =>
  template.replace(inBraces, '$1') === 'namespace' && isTemplate(template);

/**
 * Returns the name of the cluster that owns an object; undefined if none does. An object with no part of a cluster's name belongs to its namespace alone. A
 * template has at most one placeholder (config-names.ts), so that it matches an object for at most one cluster; cluster-owner.ts chooses among several
 * templates.
 */
export const clusterOf = (
  { name, namespace = namespaceTemplate }: Pick<RefTemplate, 'name' | 'namespace'>,
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
  // Without a placeholder for its namespace, a cluster with its own namespace has the name of that namespace.
  const place = found.namespace ?? found.cluster;
  if (found.cluster === undefined) return place;
  if (sharesNamespaces) return `${place ?? ''}/${found.cluster}`;
  return found.cluster === place ? place : undefined;
};

/** Returns the Namespace of a cluster, for Events about the whole cluster. */
export const namespaceRef = (cluster: string): ResourceRef & { readonly namespace: string } => {
  const { namespace } = parseClusterName(cluster);
  return { apiVersion: 'v1', kind: 'Namespace', name: namespace, namespace };
};

/** Returns the message of an Event. It names a cluster that shares its Namespace with others, because the Event is on the Namespace. */
export const eventMessage = (cluster: string, message: string): string =>
  cluster.includes('/') ? `${cluster}: ${message}` : message;

/** Returns the key of a cluster's resource in a store: `namespace/name`. The reference has no placeholders left. */
export const objectKey = ({ name, namespace }: RefTemplate, cluster: string): string =>
  `${namespace ?? parseClusterName(cluster).namespace}/${name}`;
