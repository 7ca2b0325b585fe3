import { formatTime } from '../kubernetes/api/meta-time.ts';
import { formatJsonAnnotation, readJsonAnnotation, textIn, timeIn } from './json-annotation.ts';

/** Annotation that pauses scale-downs: of one shoot on the Namespace of its control plane, of all shoots on the Namespace of the prober. */
export const pausedAnnotation = 'dependency-watchdog.gardener.cloud/paused';

/** A pause of meltdown protection that an operator has ordered. */
export interface Pause {
  /** End of the pause, in milliseconds since the epoch. If absent, the pause lasts until its annotation is removed. */
  readonly until?: number;
  readonly reason: string;
  /** Name of the operator who ordered it. */
  readonly by: string;
}

/** A pause found on an object. An unreadable annotation is one too, because the operator wanted one; the prober ends it an hour after it first saw it. */
export interface FoundPause extends Pause {
  /** The reason why the annotation cannot be read. */
  readonly problem?: string;
}

/** Formats a pause as one line of JSON: `{"until": RFC 3339, "reason", "by"}`. */
export const formatPause = ({ until, reason, by }: Pause): string => formatJsonAnnotation({ until, reason, by });

/** Returns the pause in an object's annotations, even if it is over. */
export const findPause = (annotations: Readonly<Record<string, string>>): FoundPause | undefined => {
  const text = Object.hasOwn(annotations, pausedAnnotation) ? annotations[pausedAnnotation] : undefined;
  if (text === undefined) return undefined;
  const pause = readJsonAnnotation(text, (object) => ({
    until: timeIn(object, 'until'),
    reason: textIn(object, 'reason') ?? '',
    by: textIn(object, 'by') ?? '',
  }));
  if (pause.ok) return pause.value;
  const reason = `the annotation ${pausedAnnotation} cannot be read, and counts for an hour`;
  return { reason, by: '', problem: pause.error };
};

/** Returns the pause unless it is over at `now` (milliseconds since the epoch). */
export const inForce = <P extends Pause>(pause: P | undefined, now: number): P | undefined =>
  pause?.until === undefined || now < pause.until ? pause : undefined;

/** Formats a pause for people, such as `until 2026-01-01T00:00:00Z: LB maintenance (kim)`. */
export const describePause = ({ until, reason, by }: Pause): string => {
  const end = until === undefined ? 'until it is taken back' : `until ${formatTime(until)}`;
  return `${end}: ${reason === '' ? 'no reason is given' : reason}${by === '' ? '' : ` (${by})`}`;
};
