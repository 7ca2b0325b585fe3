import {
  type ConfigFinding,
  type ConfigProblem,
  type Path,
  type Severity,
  fieldsOf,
  formatPath,
  hasErrors,
  sortProblems,
} from './rules/index.ts';
import type { z } from 'zod';
import { type Deviation, conform } from './conform.ts';
import { type FormerFields, findFormer } from './former.ts';
import { type ConfigSource, readSource } from './source.ts';
import { type ComponentName, typeFindings } from './type-meta.ts';

/** Format and rules of one component's configuration file. `T` is the type of the component's settings. */
export interface ConfigFormat<S extends z.ZodType, T> {
  readonly component: ComponentName;
  /** The configuration that Gardener generates. */
  readonly defaultText: string;
  readonly schema: () => S;
  /** Fields of the former formats of the Go program, by path. */
  readonly formerFields?: FormerFields;
  /** Checks rules that the schema cannot express. Accepts a value of any shape, and skips rules that do not apply to it. */
  readonly findings: (value: unknown) => readonly ConfigFinding[];
  /** Called only if the configuration has no errors. */
  readonly settingsFrom: (config: z.output<S>) => T;
  /** Returns reasons against settings that are valid but unwise. */
  readonly advice?: (settings: T) => readonly ConfigFinding[];
}

export interface LoadOptions {
  /**
   * Severity of problems that the Go program ignores: unknown and misspelled fields, and further documents. `error` to check a file;
   * `warning` for a running component, because a file that worked with the Go program must not leave a seed unprotected.
   */
  readonly unknownFields: Severity;
  /**
   * Purpose of the check. `running`, the default: a component runs with the configuration. `ahead`: it is checked before it is used, as by
   * `dwd rehearse`; a kind that can never be scaled is then an error. `closely`: like `ahead`, with the advice that `dwd validate` prints.
   */
  readonly purpose?: 'running' | 'ahead' | 'closely';
  /** `LoadedConfig.given` of the file that this one replaces: a field of it that is now misspelt or empty is an error, because its value would become the default. */
  readonly inForce?: unknown;
}

export interface LoadedConfig<T> {
  /** Absent if one of the problems is an error. */
  readonly settings?: T;
  /** The known fields that the file gives. Present if `settings` is. */
  readonly given?: unknown;
  /** In the order of the file. */
  readonly problems: readonly ConfigProblem[];
}

/** Schemas by format, built on first use: building one takes longer than using it. */
const schemas = new WeakMap<object, z.ZodType>();

const schemaOf = <S extends z.ZodType, T>(format: ConfigFormat<S, T>): S => {
  const schema = (schemas.get(format) as S | undefined) ?? format.schema();
  schemas.set(format, schema);
  return schema;
};

const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
};

/** Identifies an item of a list by its `ref` or `type`, if it has one, so that it stays the same item when the list is reordered. */
const nameOfItem = (item: unknown): string | undefined => JSON.stringify(fieldsOf(item).ref ?? fieldsOf(item).type);

const sameItem = (items: unknown, item: unknown, index: number): unknown => {
  if (!Array.isArray(items)) return undefined;
  const name = nameOfItem(item);
  return name === undefined ? items[index] : items.find((one) => nameOfItem(one) === name);
};

/** True if the field that is misspelt or empty was given in the file in force, and is not given now. */
const isLost = ({ path, meant }: Deviation, now: unknown, inForce: unknown): boolean => {
  if (meant === undefined) return false;
  let [found, before] = [now, inForce];
  for (const step of path.slice(0, -1)) {
    if (Array.isArray(found)) {
      found = found[Number(step)] as unknown;
      before = sameItem(before, found, Number(step));
    } else [found, before] = [fieldsOf(found)[step], fieldsOf(before)[step]];
  }
  return fieldsOf(before)[meant] !== undefined && fieldsOf(found)[meant] === undefined;
};

/** Checks a document that was read. Problems of reading it are not repeated. */
export const configFrom = <S extends z.ZodType, T>(
  format: ConfigFormat<S, T>,
  source: ConfigSource,
  { unknownFields, purpose = 'running', inForce }: LoadOptions,
): LoadedConfig<T> => {
  const schema = schemaOf(format);
  const { value, deviations } = conform(schema, source.value, (path) => source.plainTextOf(path));
  const former = findFormer(format.formerFields ?? {}, value, deviations);
  const isFormer = former.missing.size > 0;
  const problems: ConfigProblem[] = [];
  const problemOf = ({ path, message, severity, aboutKey }: ConfigFinding): ConfigProblem => {
    const position = aboutKey === true ? source.positionOfKey(path) : source.positionOf(path);
    return { ...position, path: formatPath(path), message, severity };
  };
  const report = (finding: ConfigFinding): void => {
    const severity = purpose === 'running' ? (finding.whenRunning ?? finding.severity) : finding.severity;
    // What a former format lacks needs no sentence of its own.
    if (isFormer && (severity === 'warning' || former.missing.has(formatPath(finding.path)))) return;
    if (severity !== 'silent') problems.push(problemOf({ ...finding, severity }));
  };
  if (former.deviation !== undefined) {
    problems.push(problemOf({ ...former.deviation, severity: isFormer ? 'error' : unknownFields }));
  }
  for (const deviation of former.others) {
    const { severity = unknownFields } = deviation;
    report({ ...deviation, severity: isLost(deviation, value, inForce) ? 'error' : severity });
  }
  const parsed = schema.safeParse(value);
  for (const { path, message } of parsed.error?.issues ?? []) {
    report({ path: path as Path, message, severity: 'error' });
  }
  for (const finding of [...typeFindings(format.component, value), ...format.findings(value)]) report(finding);
  if (!parsed.success || hasErrors(problems)) return { problems: sortProblems(problems) };
  const settings = freeze(format.settingsFrom(parsed.data));
  if (purpose === 'closely') format.advice?.(settings).forEach(report);
  return { settings, given: value, problems: sortProblems(problems) };
};

/** Reads and checks a configuration, and fills in defaults. Never throws: all errors are in `problems`. */
export const loadConfig = <S extends z.ZodType, T>(
  format: ConfigFormat<S, T>,
  text: string,
  options: LoadOptions,
): LoadedConfig<T> => {
  const { source, problems } = readSource(text, options.unknownFields);
  if (source === undefined) return { problems };
  const judged = configFrom(format, source, options);
  const all = sortProblems([...problems, ...judged.problems]);
  return hasErrors(all) ? { problems: all } : { ...judged, problems: all };
};
