import { heldAnnotation } from './held.ts';

/** An object, or its annotations alone. */
interface Annotated {
  readonly annotations: Readonly<Record<string, string>>;
}

/** Prefix of all our annotations. */
const prefix = 'dependency-watchdog.gardener.cloud/';
/** Annotation by which operators forbid us to scale a resource. */
export const ignoreScalingAnnotation = `${prefix}ignore-scaling`;
/** Annotation with the number of replicas before a scale-down. */
export const replicasAnnotation = `${prefix}replicas`;
/** Present, with an empty value, while we hold a resource. `planPatch` (prober/scale/patch-plan.ts) sets and removes it. */
export const meltdownProtectionAnnotation = `${prefix}meltdown-protection-active`;

/** Field manager of our scalings. The API server derives it from our User-Agent; that of the Go program results in the same. */
export const scalingFieldManager = 'dependency-watchdog';

/** Texts that Go reads as true (`strconv.ParseBool`). */
const goTrue: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

export const ignoresScaling = ({ annotations }: Annotated): boolean =>
  goTrue.has(annotations[ignoreScalingAnnotation] ?? '');

/** True if the resource is annotated as held. A held resource may have lost the annotation: see `isHeld` of the prober. */
export const hasActive = ({ annotations }: Annotated): boolean =>
  Object.hasOwn(annotations, meltdownProtectionAnnotation);

/** True if the resource has either annotation of held ones. The Go program does not know `held`, and removes only the other. */
export const hasActiveOrHeld = ({ annotations }: Annotated): boolean =>
  hasActive({ annotations }) || Object.hasOwn(annotations, heldAnnotation);

/** True if the resource stores its number of replicas before a scale-down. */
export const hasStoredReplicas = ({ annotations }: Annotated): boolean =>
  Object.hasOwn(annotations, replicasAnnotation);

/** True if any of our annotations is left on the resource. */
export const hasOurAnnotations = (object: Annotated): boolean => hasActiveOrHeld(object) || hasStoredReplicas(object);

/** Returns the number of replicas to restore. It is 1 if the value is absent or unreadable: a resource must not stay at 0 because of a typo. */
export const replicasToRestore = ({
  annotations,
}: Annotated): { readonly replicas: number; readonly unreadable?: string } => {
  const text = annotations[replicasAnnotation];
  if (text === undefined) return { replicas: 1 };
  const replicas = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  return replicas >= 1 && replicas <= 2_147_483_647 ? { replicas } : { replicas: 1, unreadable: text };
};
