import { optionalString } from '../kubernetes/api/decode.ts';
import { shorten } from '../kubernetes/api/shorten.ts';
import {
  type Annotation,
  type AnnotationChange,
  type Protected,
  type ResourceState,
  type ScalableObject,
  scalesInOneWrite,
  workloadState,
} from '../kubernetes/api/scalable.ts';
import { readJsonAnnotation } from './json-annotation.ts';
import {
  formerAnnotation,
  hasStoredAnnotation,
  hasStoredReplicas,
  isHeld,
  replicasToRestore,
} from './scaling-annotations.ts';

type Annotations = Readonly<Record<string, string>>;

/** What we have set, and what was there before. */
interface StoredAnnotation extends Annotation {
  /** Absent: there was no such annotation. */
  readonly former?: string;
}

/** The API server takes no more of all annotations of an object (`TotalAnnotationSizeLimitB` of k8s.io/apimachinery), escapes included. */
const longest = 256 * 1024;

/** Undefined where there is none, or where it cannot be read. */
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

/** Of a resource that nobody can scale, and of which neither it nor a configuration says which annotation protects it. No object has it. */
export const unknownAnnotation: Annotation = { key: '', value: '' };

/**
 * The annotation that protects a resource; undefined: its count does. What is held is given back as it was held, so that what is stored on the resource comes before
 * what is configured.
 */
const protectiveAnnotation = (annotations: Annotations, configured: Annotation | undefined): Annotation | undefined => {
  if (hasStoredAnnotation({ annotations })) return findStored(annotations) ?? configured ?? unknownAnnotation;
  return hasStoredReplicas({ annotations }) ? undefined : configured;
};

/** With the mark it is ours without what was stored, too: somebody has removed that. Without either, our value is somebody else's. */
const isSetByUs = ({ key, value }: Annotation, annotations: Annotations): boolean =>
  (hasStoredAnnotation({ annotations }) || isHeld({ annotations })) && valueOf(annotations, key) === value;

/**
 * State of a resource that is protected by one of its annotations. Its replicas stand for that annotation: 0 while it is the one that we have set, else 1. No controller
 * has to follow, so that both counts are alike.
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

/** State of a resource whose object says everything; undefined: only its Scale has the count. */
export const stateInObject = (object: ScalableObject, { ref, annotation }: Protected): ResourceState | undefined => {
  const { resourceVersion, annotations } = object.meta;
  const protective = protectiveAnnotation(annotations, annotation);
  if (protective !== undefined) return annotatedState(protective, { ...object, resourceVersion, annotations });
  return scalesInOneWrite(ref) ? workloadState(object) : undefined;
};

/** What sets the annotation, and keeps what is there in its place. */
export const setAnnotation = ({ key, value }: Annotation, annotations: Annotations): AnnotationChange => ({
  [key]: value,
  [formerAnnotation]: JSON.stringify({ key, value, former: valueOf(annotations, key) }),
});

/** What gives back the value that was there before. An unreadable or absent one is taken for none: a resource must not stay paused because of a typo. */
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

/** What of a held resource will be restored: so many replicas, or an annotation, by its key. */
export interface Restorable {
  readonly replicas: number;
  readonly annotation?: string;
}

/** For people. `configured`: what protects it where it does not say so itself. */
export const restorableOf = (annotations: Annotations, configured?: Annotation): Restorable => {
  const protective = protectiveAnnotation(annotations, configured);
  if (protective === undefined) return { replicas: replicasToRestore({ annotations }).replicas };
  return { replicas: 1, annotation: protective.key };
};

/** True if an annotation that we have set is still there. `configured`: what protects the resource where it does not say so itself. */
export const isAnnotatedByUs = (annotations: Annotations, configured?: Annotation): boolean => {
  const protective = protectiveAnnotation(annotations, configured);
  return protective !== undefined && isSetByUs(protective, annotations);
};

/** What was stored, for people; undefined: nothing. */
export const formerInWords = (annotations: Annotations): string | undefined => {
  const stored = findStored(annotations);
  if (stored === undefined) return undefined;
  return stored.former === undefined ? 'without it' : JSON.stringify(shorten(stored.former));
};
