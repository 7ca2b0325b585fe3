import { DecodeError, type JsonObject } from '../kubernetes/api/decode.ts';
import type { NamespacedName, ResourceRef } from '../kubernetes/api/resource-ref.ts';
import { formatJsonAnnotation, objectsIn, readJsonAnnotation, textIn, timeIn } from './json-annotation.ts';

/** Annotation that says since when, why and by whom a resource is held. */
export const heldAnnotation = 'dependency-watchdog.gardener.cloud/held';

export interface HeldAnnotation {
  /** Time of the scale-down: milliseconds since the epoch, whole seconds. */
  readonly since?: number;
  /** The verdict, in words and numbers. */
  readonly reason: string;
  /** Identity of the process that scaled the resource down. */
  readonly by: string;
  /** Name of the cluster for which the resource is held. */
  readonly cluster?: string;
  /**
   * All resources that a scale-down may hold with this one, as they are configured, placeholders included: a process whose configuration has lost one of them
   * finds it by its siblings. Without a namespace it is that of the cluster.
   */
  readonly with?: readonly SiblingRef[];
}

type SiblingRef = ResourceRef & Partial<NamespacedName>;

/** Formats it as one line of JSON: `{"since": RFC 3339, "reason", "by", "cluster", "with": [{apiVersion, kind, name, namespace}]}`. */
export const formatHeldAnnotation = ({ with: siblings, ...annotation }: HeldAnnotation): string => {
  const { since, reason, by, cluster } = annotation;
  const refs = siblings?.map(({ apiVersion, kind, name, namespace }) => ({ apiVersion, kind, name, namespace }));
  return formatJsonAnnotation({ since, reason, by, cluster, with: refs });
};

const refIn = (object: JsonObject): SiblingRef => {
  const apiVersion = textIn(object, 'apiVersion');
  const kind = textIn(object, 'kind');
  const name = textIn(object, 'name');
  if (apiVersion === undefined || kind === undefined || name === undefined) {
    throw new DecodeError('with', 'apiVersion, kind and name', object);
  }
  return { apiVersion, kind, name, namespace: textIn(object, 'namespace') };
};

/** Returns undefined if there is none, as on resources that the Go program holds, or if it is unreadable: nothing depends on it. */
export const readHeldAnnotation = (annotations: Readonly<Record<string, string>>): HeldAnnotation | undefined => {
  const text = Object.hasOwn(annotations, heldAnnotation) ? annotations[heldAnnotation] : undefined;
  if (text === undefined) return undefined;
  const annotation = readJsonAnnotation(text, (object) => ({
    since: timeIn(object, 'since'),
    reason: textIn(object, 'reason') ?? '',
    by: textIn(object, 'by') ?? '',
    cluster: textIn(object, 'cluster'),
    with: objectsIn(object, 'with')?.map(refIn),
  }));
  return annotation.ok ? annotation.value : undefined;
};
