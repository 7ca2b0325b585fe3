import { heldAnnotation } from './held-note.ts';

/** An object, or what is kept of one. */
interface Annotated {
  readonly annotations: Readonly<Record<string, string>>;
}

/** All annotations of ours begin with it. */
export const prefix = 'dependency-watchdog.gardener.cloud/';
/** Set by operators: hands off. */
export const ignoreScalingAnnotation = `${prefix}ignore-scaling`;
/** The number of replicas before a scale-down. */
export const replicasAnnotation = `${prefix}replicas`;
/** The annotation that protects a resource in place of a count of 0, and what it was before: see annotated.ts. */
export const formerAnnotation = `${prefix}former-annotation`;
/** Present, with an empty value, while we hold a resource down. */
export const meltdownProtectionAnnotation = `${prefix}meltdown-protection-active`;
/** All that a write of ours may change on a resource that is scaled. */
export const writtenAnnotations = [meltdownProtectionAnnotation, heldAnnotation, replicasAnnotation] as const;

/** Field manager of our scalings: what the API server takes from our User-Agent, and from that of the Go program. */
export const scalingFieldManager = 'dependency-watchdog';

/** Go's spellings of true (`strconv.ParseBool`). */
const goTrue: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

export const ignoresScaling = ({ annotations }: Annotated): boolean =>
  goTrue.has(annotations[ignoreScalingAnnotation] ?? '');

/** True if we hold the resource down: it has the mark. */
export const isHeld = ({ annotations }: Annotated): boolean => Object.hasOwn(annotations, meltdownProtectionAnnotation);

/** True if the mark or the note is there: the Go program, which does not know the note, takes only the mark away. */
export const isMarked = ({ annotations }: Annotated): boolean =>
  isHeld({ annotations }) || Object.hasOwn(annotations, heldAnnotation);

/** True if the number of replicas before a scale-down is stored. */
export const hasStoredReplicas = ({ annotations }: Annotated): boolean =>
  Object.hasOwn(annotations, replicasAnnotation);

/** True if the annotation that we have set is stored, with what it was before. */
export const hasStoredAnnotation = ({ annotations }: Annotated): boolean =>
  Object.hasOwn(annotations, formerAnnotation);

/** True if what was before a scale-down is stored. */
export const hasStored = (object: Annotated): boolean => hasStoredReplicas(object) || hasStoredAnnotation(object);

/** True if annotations of ours are left on the resource. */
export const hasOurAnnotations = (object: Annotated): boolean => isMarked(object) || hasStored(object);

/** Replicas to restore. An unreadable or absent value is 1: a resource must not stay at 0 because of a typo. */
export const replicasToRestore = ({
  annotations,
}: Annotated): { readonly replicas: number; readonly unreadable?: string } => {
  const text = annotations[replicasAnnotation];
  if (text === undefined) return { replicas: 1 };
  const replicas = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  return replicas >= 1 && replicas <= 2_147_483_647 ? { replicas } : { replicas: 1, unreadable: text };
};
