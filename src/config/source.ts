import { type Document, isScalar, parseAllDocuments, visit } from 'yaml';
import { keyText, locate, pathTo } from './locate.ts';
import { type ConfigProblem, type Path, type Severity, formatPath } from './problem.ts';

/** Room for thousands of resources; the parser's time grows with the square of the number of keys. */
const maxChars = 256 * 1024;
const maxAliases = 100;

export interface Position {
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/** One YAML document, and where everything in it stands. */
export interface ConfigSource {
  /** Plain data; aliases and merge keys are resolved. */
  readonly value: unknown;
  /** Where the value at `path` stands or, when it is absent, what would hold it. */
  positionOf(path: Path): Position;
  positionOfKey(path: Path): Position;
  /** How the scalar at `path` is written, such as `PLAIN` or `BLOCK_LITERAL`; undefined for anything else. */
  styleOf(path: Path): string | undefined;
}

export interface ReadResult {
  /** Absent when there is nothing that could be judged any further. */
  readonly source?: ConfigSource;
  readonly problems: readonly ConfigProblem[];
}

type PositionAt = (offset: number) => Position;

const top: Position = { line: 1, column: 1 };

const fileProblem = (message: string, severity: Severity = 'error', at: Position = top): ConfigProblem => ({
  ...at,
  path: '.',
  message,
  severity,
});

const createSource = (document: Document, value: unknown, positionAt: PositionAt): ConfigSource => ({
  value,
  positionOf(path) {
    const node = locate(document, path).value;
    return node?.range ? positionAt(node.range[0]) : top;
  },
  positionOfKey(path) {
    const found = locate(document, path);
    const node = found.key ?? found.value;
    return node?.range ? positionAt(node.range[0]) : top;
  },
  styleOf(path) {
    const { value: node, exact } = locate(document, path);
    return exact && isScalar(node) ? node.type : undefined;
  },
});

/** What the reader finds without a path, told with it: keys given twice, and aliases of nothing. */
const structureProblems = (document: Document, positionAt: PositionAt): readonly ConfigProblem[] => {
  const duplicates = new Set(document.errors.filter(({ code }) => code === 'DUPLICATE_KEY').map(({ pos }) => pos[0]));
  const problems: ConfigProblem[] = [];
  const report = (offset: number, path: Path, message: string): void => {
    problems.push({ ...positionAt(offset), path: formatPath(path), message, severity: 'error' });
  };
  visit(document, {
    Pair(_key, pair, ancestors) {
      const offset = isScalar(pair.key) ? pair.key.range?.[0] : undefined;
      if (offset === undefined || !duplicates.has(offset)) return;
      report(offset, [...pathTo(ancestors, pair), keyText(pair.key)], 'is given more than once; keep one of them');
    },
    Alias(_key, alias, ancestors) {
      if (alias.resolve(document) !== undefined) return;
      report(alias.range?.[0] ?? 0, pathTo(ancestors, alias), `there is no anchor &${alias.source} before this alias`);
    },
  });
  return problems;
};

const readDocument = (document: Document, positionAt: PositionAt): ReadResult => {
  const syntax = document.errors.filter(({ code }) => code !== 'DUPLICATE_KEY');
  const told = [
    ...syntax.map(({ message, pos }) => fileProblem(`is not valid YAML: ${message}`, 'error', positionAt(pos[0]))),
    ...document.warnings.map(({ message, pos }) => fileProblem(`YAML: ${message}`, 'warning', positionAt(pos[0]))),
  ];
  // What stands after a syntax error was guessed by the parser; judging it would only add noise.
  if (syntax.length > 0) return { problems: told };
  const problems = [...told, ...structureProblems(document, positionAt)];
  try {
    const value = document.toJS({ maxAliasCount: maxAliases }) as unknown;
    return { source: createSource(document, value, positionAt), problems };
  } catch (error) {
    if (problems.some(({ severity }) => severity === 'error')) return { problems };
    return { problems: [...problems, fileProblem(`cannot be read: ${(error as Error).message}`)] };
  }
};

/** The parser's own line counter goes astray after some syntax errors; its offsets do not. */
const positionsIn = (text: string): PositionAt => {
  const lineStarts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  return (offset) => {
    let [line, after] = [0, lineStarts.length];
    while (after - line > 1) {
      const middle = (line + after) >>> 1;
      if ((lineStarts[middle] ?? 0) <= offset) line = middle;
      else after = middle;
    }
    return { line: line + 1, column: offset - (lineStarts[line] ?? 0) + 1 };
  };
};

const readDocuments = (text: string, severalDocuments: Severity): ReadResult => {
  const positionAt = positionsIn(text);
  // Merge keys as in YAML 1.1, which the Go program reads. Keys of other types than strings would cost exponential time.
  const options = { merge: true, stringKeys: true, prettyErrors: false } as const;
  const documents: readonly Document[] = [...parseAllDocuments(text, options)];
  const [first, second] = documents;
  if (first === undefined) return { problems: [fileProblem('is empty; a configuration is required')] };
  const result = readDocument(first, positionAt);
  if (second === undefined) return result;
  const at = positionAt(second.range?.[0] ?? 0);
  const several = `holds ${documents.length} YAML documents and only the first counts; keep one`;
  return { ...result, problems: [...result.problems, fileProblem(several, severalDocuments, at)] };
};

/**
 * Reads one YAML (or JSON) document. Never throws: whatever is wrong with the text is a problem. `severalDocuments` is the
 * severity of more than one document, of which the first counts.
 */
export const readSource = (text: string, severalDocuments: Severity): ReadResult => {
  if (text.length > maxChars) return { problems: [fileProblem('is larger than 256 KiB; no configuration needs that')] };
  try {
    return readDocuments(text.replace(/^\ufeff/, ''), severalDocuments);
  } catch (error) {
    // The parser recurses: a file nested thousands of levels deep ends in a RangeError.
    return { problems: [fileProblem(`cannot be read as YAML: ${(error as Error).message}`)] };
  }
};
