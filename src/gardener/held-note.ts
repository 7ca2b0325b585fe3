import { formatJsonAnnotation, readJsonAnnotation, textIn, timeIn } from './json-annotation.ts';

/** Annotation with the note: since when, why and by whom a resource is held. */
export const heldAnnotation = 'dependency-watchdog.gardener.cloud/held';

export interface HeldNote {
  /** Time of the scale-down: milliseconds since the epoch, whole seconds. */
  readonly since?: number;
  /** The verdict, in words and numbers. */
  readonly reason: string;
  /** Identity of the process that scaled the resource down. */
  readonly by: string;
}

/** Formats a note as one line of JSON: `{"since": RFC 3339, "reason", "by"}`. */
export const formatHeldNote = ({ since, reason, by }: HeldNote): string => formatJsonAnnotation({ since, reason, by });

/** Returns undefined if there is no note, as on resources that the Go program holds, or if it is unreadable: nothing depends on it. */
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
