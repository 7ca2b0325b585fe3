import { type ConfigProblem, type Path, formatPath, sortProblems } from './rules/index.ts';
import type { z } from 'zod';
import { type ConfigFormat, type LoadOptions, type LoadedConfig, configFrom, loadConfig } from './load.ts';
import { type ComponentName, componentOfKind } from './type-meta.ts';
import { type ConfigSource, type Position, readSource } from './source.ts';

type Check = (text: string) => readonly ConfigProblem[];

const strict: LoadOptions = { unknownFields: 'error', purpose: 'closely' };

const dataOf = (value: unknown): Readonly<Record<string, unknown>> | undefined => {
  const manifest = (value ?? {}) as { readonly kind?: unknown; readonly data?: unknown };
  if (manifest.kind !== 'ConfigMap') return undefined;
  return typeof manifest.data === 'object' && manifest.data !== null && !Array.isArray(manifest.data)
    ? (manifest.data as Readonly<Record<string, unknown>>)
    : {};
};

/**
 * Translates positions in an embedded text into positions in its manifest. A literal block (`|`) begins on the line after its header and is
 * indented as a whole. Other styles fold or escape lines: there, every position becomes that of the whole value.
 */
const placesIn = (manifestLines: readonly string[], source: ConfigSource, path: Path): ((at: Position) => Position) => {
  const start = source.positionOf(path);
  if (source.styleOf(path) !== 'BLOCK_LITERAL') return () => start;
  const lines = String(
    path.reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], source.value),
  ).split('\n');
  // A problem at the end of a block that ends with the file, without a final line feed, would be on the line after it.
  const end = { line: manifestLines.length, column: (manifestLines.at(-1) ?? '').length + 1 };
  return ({ line, column }) => {
    const inManifest = start.line + line;
    if (inManifest > end.line) return end;
    const indent = (manifestLines[inManifest - 1] ?? '').replace(/\r$/, '').length - (lines[line - 1] ?? '').length;
    return { line: inManifest, column: column + Math.max(indent, 0) };
  };
};

/** Appends a path inside the configuration to the path of the value that holds the configuration. */
const within = (prefix: string, path: string): string => {
  if (path === '.') return prefix;
  return path.startsWith('[') ? `${prefix}${path}` : `${prefix}.${path}`;
};

const problemsInData = (manifest: string, source: ConfigSource, check: Check): readonly ConfigProblem[] => {
  const data = Object.entries(dataOf(source.value) ?? {});
  const manifestLines = manifest.split('\n');
  const whole = (path: Path, message: string): ConfigProblem => ({
    ...source.positionOf(path),
    path: formatPath(path),
    message,
    severity: 'error',
  });
  if (data.length === 0) return [whole(['data'], 'holds no configuration; a key of data must hold one, as text')];
  return data.flatMap(([key, text]) => {
    const path = ['data', key];
    if (typeof text !== 'string') return [whole(path, 'must be text, as in `key: |`; a ConfigMap holds nothing else')];
    const place = placesIn(manifestLines, source, path);
    return check(text).map((problem) => ({
      ...problem,
      ...place(problem),
      path: within(formatPath(path), problem.path),
    }));
  });
};

const valueOf = (text: string): unknown => readSource(text, 'warning').source?.value;

/** Returns the component of each configuration in a file, of which a ConfigMap may have several, by its `kind`; undefined for one that has none. */
export const componentsOf = (text: string): readonly (ComponentName | undefined)[] => {
  const whole = valueOf(text);
  const data = dataOf(whole);
  const parts = Object.values(data ?? {}).filter((part) => typeof part === 'string');
  return (data === undefined ? [whole] : parts.map(valueOf)).map(componentOfKind);
};

/** Reads a configuration of some component. */
type Load = (text: string, options: LoadOptions) => Pick<LoadedConfig<unknown>, 'problems'>;

/**
 * Returns all problems of a configuration file. The file is a plain configuration, or a ConfigMap manifest, where each key of `data` is checked: as
 * configuration of the component of `others` that its `kind` names, else of this one. Unknown fields are errors. Never throws.
 */
export const checkFile = <S extends z.ZodType, T>(
  format: ConfigFormat<S, T>,
  text: string,
  others: Readonly<Partial<Record<ComponentName, { readonly load: Load }>>> = {},
): readonly ConfigProblem[] => {
  const own: Load = (part, options) => loadConfig(format, part, options);
  const check: Check = (part) => {
    const named = componentOfKind(valueOf(part));
    const load = (named && others[named]?.load) ?? own;
    return load(part, strict).problems;
  };
  const { source, problems } = readSource(text, strict.unknownFields);
  if (source === undefined) return problems;
  const found =
    dataOf(source.value) === undefined
      ? configFrom(format, source, strict).problems
      : problemsInData(text, source, check);
  return sortProblems([...problems, ...found]);
};
