import type { Line } from './line.ts';

/** Lines by what they say, each told once. */
export type Remarks = readonly (readonly [key: string, isDue: boolean, line: () => Line])[];

/** The lines that are due and have not been told, and what has been told then. Keys are told apart by `phase`. */
export const tellOnce = (
  told: ReadonlySet<string>,
  phase: string,
  remarks: Remarks,
): { readonly lines: readonly Line[]; readonly told: ReadonlySet<string> } => {
  const due = remarks.filter(([key, isDue]) => isDue && !told.has(`${phase} ${key}`));
  return {
    lines: due.map(([, , make]) => make()),
    told: new Set([...told, ...due.map(([key]) => `${phase} ${key}`)]),
  };
};

/** What the demo is to show, and whether it did. */
export interface Finding {
  readonly seen: boolean;
  /** Name of the shoot in which it was to be seen. */
  readonly about: string;
  readonly text: string;
}
