import { optionalString } from '../kubernetes/api/decode.ts';
import { shorten } from '../kubernetes/api/shorten.ts';
import {
  type Annotation,
  type AnnotationChange,
  type Protected,
  type ResourceState,
  type ScalableObject,
  isPatchableWorkload,
  workloadState,
} from '../kubernetes/api/scalable.ts';
import { readJsonAnnotation } from './json-annotation.ts';
import {
  formerAnnotation,
  hasStoredAnnotation,
  hasStoredReplicas,
  hasMark,
  replicasToRestore,
} from './scaling-annotations.ts';

type Annotations = Readonly<Record<string, string>>;

/** The annotation that we have set, with its former value. */
interface StoredAnnotation extends Annotation {
  /** Absent if the resource did not have the annotation before. */
  readonly former?: string;
}

/** Limit of the API server for all annotations of an object, in bytes and escapes included (`TotalAnnotationSizeLimitB` of k8s.io/apimachinery). */
const longest = 256 * 1024;

/** Reads the stored annotation. Returns undefined if there is none, or if it cannot be read. */
const findStored = (annotations: Annotations): StoredAnnotation | undefined => {
  const text = Object.hasOwn(annotations, formerAnnotation) ? annotations[formerAnnotation] : undefined;
  if (text === undefined) return undefined;
  const read = readJsonAnnotation(
    text,
    (object) => {
      const former = optionalString(object.former, 'former');
      return {
        key: optionalString(object.key, 'key') ?? '',
        value: optionalString(object.value, 'value') ?? '',
        ...(former === undefined ? {} : { former }),
      };
    },
    longest,
  );
  return read.ok && read.value.key !== '' ? read.value : undefined;
};

const valueOf = (annotations: Annotations, key: string): string | undefined =>
  Object.hasOwn(annotations, key) ? annotations[key] : undefined;

/** Stands for the annotation that protects a resource without `scale`, if neither the resource nor a configuration names one. No object has an empty key. */
export const unknownAnnotation: Annotation = { key: '', value: '' };

/**
 * Returns the annotation that protects a resource, or undefined if its replica count does. The stored annotation comes before the configured one, because a
 * resource is restored in the way in which it was held.
 */
const protectiveAnnotation = (annotations: Annotations, configured: Annotation | undefined): Annotation | undefined => {
  if (hasStoredAnnotation({ annotations })) return findStored(annotations) ?? configured ?? unknownAnnotation;
  return hasStoredReplicas({ annotations }) ? undefined : configured;
};

/** True if the annotation has our value and the resource has the mark or a stored annotation. Without either of these, somebody else has set our value. */
const isSetByUs = ({ key, value }: Annotation, annotations: Annotations): boolean =>
  (hasStoredAnnotation({ annotations }) || hasMark({ annotations })) && valueOf(annotations, key) === value;

/**
 * State of a resource that one of its annotations protects. Its replica counts represent that annotation: 0 while our value is set, else 1. Both counts are
 * equal, because no controller has to act on the change.
 */
export const annotatedState = (
  { key, value }: Annotation,
  object: Pick<ResourceState, 'resourceVersion' | 'annotations' | 'replicasManager'>,
): ResourceState => {
  const { resourceVersion, annotations, replicasManager } = object;
  const count = isSetByUs({ key, value }, annotations) ? 0 : 1;
  return {
    resourceVersion,
    annotations,
    annotation: { key, value },
    specReplicas: count,
    readyReplicas: count,
    observed: true,
    ...(replicasManager === undefined ? {} : { replicasManager }),
  };
};

/** Returns the state of a resource from its object alone, or undefined if the count is only in its Scale. */
export const stateInObject = (object: ScalableObject, { ref, annotation }: Protected): ResourceState | undefined => {
  const { resourceVersion, annotations } = object.meta;
  const protective = protectiveAnnotation(annotations, annotation);
  if (protective !== undefined) return annotatedState(protective, { ...object, resourceVersion, annotations });
  return isPatchableWorkload(ref) ? workloadState(object) : undefined;
};

/** Returns the change that sets the annotation and stores its former value. */
export const setAnnotation = ({ key, value }: Annotation, annotations: Annotations): AnnotationChange => ({
  [key]: value,
  [formerAnnotation]: JSON.stringify({ key, value, former: valueOf(annotations, key) }),
});

/** Returns the change that restores the former value. It removes the annotation if that value is unreadable: a typo must not keep a resource paused. */
export const restoreAnnotation = (
  { key }: Annotation,
  annotations: Annotations,
): { readonly annotations: AnnotationChange; readonly unreadable?: string } => {
  const stored = findStored(annotations);
  const text = annotations[formerAnnotation];
  return {
    annotations: { [key]: stored?.former ?? null },
    ...(stored === undefined && text !== undefined ? { unreadable: text } : {}),
  };
};

/** The part of a held resource that will be restored: a number of replicas, or an annotation, by its key. */
export interface RestoreTarget {
  readonly replicas: number;
  readonly annotation?: string;
}

/** Describes for people what will be restored. `configured`: the annotation that protects the resource if none is stored on it. */
export const restoreTargetOf = (annotations: Annotations, configured?: Annotation): RestoreTarget => {
  const protective = protectiveAnnotation(annotations, configured);
  if (protective === undefined) return { replicas: replicasToRestore({ annotations }).replicas };
  return { replicas: 1, annotation: protective.key };
};

/** True if an annotation that we have set still has our value. `configured`: the annotation that protects the resource if none is stored on it. */
export const isAnnotatedByUs = (annotations: Annotations, configured?: Annotation): boolean => {
  const protective = protectiveAnnotation(annotations, configured);
  return protective !== undefined && isSetByUs(protective, annotations);
};

/** Describes the stored former value for people. Returns undefined if nothing readable is stored. */
export const describeStoredValue = (annotations: Annotations): string | undefined => {
  const stored = findStored(annotations);
  if (stored === undefined) return undefined;
  return stored.former === undefined ? 'without it' : JSON.stringify(shorten(stored.former));
};
