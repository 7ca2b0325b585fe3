import type { Result } from '../kubernetes/api/errors.ts';
import { formatTime } from '../kubernetes/api/meta-time.ts';
import { formatJsonAnnotation, readJsonAnnotation, textIn, timeIn } from './json-annotation.ts';

/** On the Namespace of a shoot's control plane, or for all shoots on that of the prober: nothing is scaled down meanwhile. */
export const pausedAnnotation = 'dependency-watchdog.gardener.cloud/paused';

/** A pause of meltdown protection, as an operator has ordered it. */
export interface Pause {
  /** Milliseconds since the epoch; absent: until it is taken back. */
  readonly until?: number;
  readonly reason: string;
  /** Who ordered it. */
  readonly by: string;
}

/** The operator meant something: what cannot be read is a pause without an end. */
export interface FoundPause extends Pause {
  /** Why the annotation cannot be read. */
  readonly problem?: string;
}

/** One line of JSON: `{"until": RFC 3339, "reason", "by"}`. */
export const formatPause = ({ until, reason, by }: Pause): string => formatJsonAnnotation({ until, reason, by });

export const parsePause = (text: string): Result<Pause, string> =>
  readJsonAnnotation(text, (object) => {
    const until = timeIn(object, 'until');
    return {
      ...(until === undefined ? {} : { until }),
      reason: textIn(object, 'reason') ?? '',
      by: textIn(object, 'by') ?? '',
    };
  });

/** The pause that an object's annotations order, whether or not it is over. */
export const findPause = (annotations: Readonly<Record<string, string>>): FoundPause | undefined => {
  const text = Object.hasOwn(annotations, pausedAnnotation) ? annotations[pausedAnnotation] : undefined;
  if (text === undefined) return undefined;
  const pause = parsePause(text);
  return pause.ok
    ? pause.value
    : { reason: `the annotation ${pausedAnnotation} cannot be read`, by: '', problem: pause.error };
};

/** `now` in milliseconds since the epoch. */
export const isInForce = ({ until = Number.POSITIVE_INFINITY }: Pause, now: number): boolean => now < until;

/** `until 2026-01-01T00:00:00Z: LB maintenance (kim)`. */
export const describePause = ({ until, reason, by }: Pause): string => {
  const end = until === undefined ? 'until it is taken back' : `until ${formatTime(until)}`;
  return `${end}: ${reason === '' ? 'no reason is given' : reason}${by === '' ? '' : ` (${by})`}`;
};
