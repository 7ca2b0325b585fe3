import type { Deviation } from './conform.ts';
import { type Path, fieldsOf } from './rules/index.ts';

/** A field of a former format of the Go program, which no version of ours reads. */
export interface FormerField {
  /** The first version of the Go program without it. */
  readonly until: string;
  /** What is written in its place today; absent if nothing is. */
  readonly now?: string;
  /** Required fields that it stood for. Without them the file is of the former format. */
  readonly stoodFor?: readonly string[];
}

/** Former fields by their path, without the indices of lists. */
export type FormerFields = Readonly<Record<string, FormerField>>;

interface Former {
  /** One deviation in place of all that are about former fields; absent if there are none. */
  readonly deviation?: Deviation;
  /** The other deviations. */
  readonly others: readonly Deviation[];
  /** Required fields that the file does not have because it is of a former format. */
  readonly missing: ReadonlySet<string>;
}

const nameOf = (path: Path): string =>
  path
    .filter((step) => typeof step === 'string')
    .join('.')
    .toLowerCase();

const list = (words: readonly string[]): string => [...new Set(words)].join(', ');

/** Says in one sentence which fields of a file are of a former format, and what to write today. */
export const findFormer = (fields: FormerFields, value: unknown, deviations: readonly Deviation[]): Former => {
  const byName = new Map(Object.entries(fields).map(([name, field]) => [name.toLowerCase(), { name, ...field }]));
  const found = deviations.flatMap((deviation) => {
    const field = byName.get(nameOf(deviation.path));
    return field === undefined ? [] : [{ ...field, name: field.name.split('.').at(-1) ?? '', deviation }];
  });
  const first = found.find(({ stoodFor }) => stoodFor !== undefined) ?? found[0];
  if (first === undefined) return { others: deviations, missing: new Set() };
  const isGiven = (name: string): boolean => fieldsOf(value)[name] !== undefined;
  const missing = new Set(found.flatMap(({ stoodFor = [] }) => stoodFor).filter((name) => !isGiven(name)));
  const replaced = list(found.flatMap(({ name, now }) => (now === undefined ? [] : [`${now} in place of ${name}`])));
  const gone = list(found.flatMap(({ name, now }) => (now === undefined ? [name] : [])));
  const advice = [replaced && `write ${replaced}`, gone && `leave out ${gone}`].filter(Boolean).join('; ');
  const message = `is of the Go program before ${first.until}, whose format is not read any more: ${advice}`;
  const taken = new Set(found.map(({ deviation }) => deviation));
  return {
    deviation: { ...first.deviation, message },
    others: deviations.filter((deviation) => !taken.has(deviation)),
    missing,
  };
};
