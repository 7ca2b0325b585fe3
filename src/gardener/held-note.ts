import { formatJsonAnnotation, readJsonAnnotation, textIn, timeIn } from './json-annotation.ts';

/** Since when, why and by whom a resource is held. */
export const heldAnnotation = 'dependency-watchdog.gardener.cloud/held';

export interface HeldNote {
  /** Milliseconds since the epoch, to the second. */
  readonly since?: number;
  /** The verdict, in words and numbers. */
  readonly reason: string;
  /** Identity of the process that scaled the resource down. */
  readonly by: string;
}

/** One line of JSON: `{"since": RFC 3339, "reason", "by"}`. */
export const formatHeldNote = ({ since, reason, by }: HeldNote): string => formatJsonAnnotation({ since, reason, by });

/** Undefined where there is none, as on what the Go program holds, or where it cannot be read: nothing depends on it. */
export const findHeldNote = (annotations: Readonly<Record<string, string>>): HeldNote | undefined => {
  const text = Object.hasOwn(annotations, heldAnnotation) ? annotations[heldAnnotation] : undefined;
  if (text === undefined) return undefined;
  const note = readJsonAnnotation(text, (object) => {
    const since = timeIn(object, 'since');
    return {
      ...(since === undefined ? {} : { since }),
      reason: textIn(object, 'reason') ?? '',
      by: textIn(object, 'by') ?? '',
    };
  });
  return note.ok ? note.value : undefined;
};
