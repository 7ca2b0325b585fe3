import type { NamespacedName, ResourceRef } from '../../kubernetes/api/resource-ref.ts';

/**
 * A resource that every cluster has. Name and namespace may each have one placeholder, `{{ cluster }}` or `{{ namespace }}`. Both stand for the name of the
 * cluster, which is the namespace of its control plane.
 */
export interface RefTemplate extends ResourceRef {
  /** Absent: the namespace of the control plane. */
  readonly namespace?: string;
}

const placeholder = /\{\{ ?(?:namespace|cluster) ?\}\}/g;

export const countPlaceholders = (text: string): number => text.split(placeholder).length - 1;

export const isTemplate = (text: string): boolean => countPlaceholders(text) > 0;

/** Returns the text without its placeholders. Braces that are left are none of ours. */
export const withoutPlaceholders = (text: string): string => text.replaceAll(placeholder, '');

export const fillTemplate = (text: string, cluster: string): string => text.replaceAll(placeholder, () => cluster);

/** Returns the value of a template's one placeholder in this text, empty if the template has none; undefined if the text does not match. */
export const placeholderValue = (template: string, text: string): string | undefined => {
  const [before = '', after] = template.split(placeholder);
  if (after === undefined) return text === template ? '' : undefined;
  const fits = text.length > before.length + after.length && text.startsWith(before) && text.endsWith(after);
  return fits ? text.slice(before.length, text.length - after.length) : undefined;
};

/** True if the template is the namespace of the control plane, which is also the namespace of a resource without one. */
export const isOwnNamespace = (template: string): boolean =>
  isTemplate(template) && withoutPlaceholders(template) === '';

/** Returns the cluster whose resource an object is, if no other template fits the object better (`findOwned`); undefined if it is of none. */
export const ownerOf = (
  { name, namespace = '{{ namespace }}' }: Pick<RefTemplate, 'name' | 'namespace'>,
  object: NamespacedName,
): string | undefined => {
  const inName = placeholderValue(name, object.name);
  const inNamespace = placeholderValue(namespace, object.namespace);
  if (inName === undefined || inNamespace === undefined) return undefined;
  const isOne = inName === '' || inNamespace === '' || inName === inNamespace;
  return isOne ? inName || inNamespace || undefined : undefined;
};

/** Returns the Namespace of a cluster, for Events about the whole cluster. */
export const namespaceRef = (cluster: string): ResourceRef & { readonly namespace: string } => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  name: cluster,
  namespace: cluster,
});

/** Returns the key of a cluster's resource in a store: `namespace/name`. The reference has no placeholders left. */
export const objectKey = ({ name, namespace }: RefTemplate, cluster: string): string =>
  `${namespace ?? cluster}/${name}`;
