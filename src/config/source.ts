import { type ConfigProblem, type Path, type Severity, formatPath } from './rules/index.ts';
import { type Document, isScalar, parseAllDocuments } from 'yaml';
import { locator } from './locate.ts';
import { maxAliases, structureFindings } from './structure.ts';

/** Size limit of a file in bytes of UTF-8, enough for thousands of resources. */
const maxBytes = 256 * 1024;

export interface Position {
  /** Line and column count from 1. */
  readonly line: number;
  readonly column: number;
}

/** One YAML document, and the positions of its values in the file. */
export interface ConfigSource {
  /** The document as plain data, with aliases and merge keys resolved. */
  readonly value: unknown;
  /** Returns the position of the value at `path` or, if the path does not exist, of its nearest existing parent. */
  positionOf(path: Path): Position;
  positionOfKey(path: Path): Position;
  /** Returns the YAML style of the scalar at `path`, such as `PLAIN` or `BLOCK_LITERAL`; undefined if there is no scalar. */
  styleOf(path: Path): string | undefined;
  /** Returns the text of an unquoted scalar exactly as written in the file; undefined for anything else. */
  plainTextOf(path: Path): string | undefined;
}

export interface ReadResult {
  /** Absent if the file cannot be checked any further. */
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

const createSource = (document: Document, value: unknown, positionAt: PositionAt): ConfigSource => {
  const locate = locator(document);
  return {
    value,
    positionOf(path) {
      const node = locate(path).value;
      return node?.range ? positionAt(node.range[0]) : top;
    },
    positionOfKey(path) {
      const found = locate(path);
      const node = found.key ?? found.value;
      return node?.range ? positionAt(node.range[0]) : top;
    },
    styleOf(path) {
      const { value: node, exact } = locate(path);
      return exact && isScalar(node) ? node.type : undefined;
    },
    plainTextOf(path) {
      const { value: node, exact } = locate(path);
      return exact && isScalar(node) && node.type === 'PLAIN' ? node.source : undefined;
    },
  };
};

const readDocument = (document: Document, positionAt: PositionAt): ReadResult => {
  const told = [
    ...document.errors.map(({ message, pos }) =>
      fileProblem(`is not valid YAML: ${message}`, 'error', positionAt(pos[0])),
    ),
    ...document.warnings.map(({ message, pos }) => fileProblem(`YAML: ${message}`, 'warning', positionAt(pos[0]))),
  ];
  // The parser guesses the content after a syntax error; checking it would only add noise.
  if (document.errors.length > 0) return { problems: told };
  const { findings, isResolvable } = structureFindings(document);
  const problems = [
    ...told,
    ...findings.map(({ offset, path, message }): ConfigProblem => {
      return { ...positionAt(offset), path: formatPath(path), message, severity: 'error' };
    }),
  ];
  if (!isResolvable) return { problems };
  try {
    const value = document.toJS({ maxAliasCount: maxAliases }) as unknown;
    return { source: createSource(document, value, positionAt), problems };
  } catch (error) {
    if (problems.some(({ severity }) => severity === 'error')) return { problems };
    return { problems: [...problems, fileProblem(`cannot be read: ${(error as Error).message}`)] };
  }
};

/** Computes positions from offsets, because the parser's own line counter is wrong after some syntax errors. */
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

const parseDocuments = (text: string): readonly Document[] =>
  // The Go program reads YAML 1.1, which has merge keys. Keys other than strings would take exponential time, and the parser's own
  // search for duplicate keys quadratic time; structure.ts finds duplicates in linear time.
  parseAllDocuments(text, { merge: true, stringKeys: true, uniqueKeys: false, prettyErrors: false });

const readFirst = (text: string, severalDocuments: Severity): ReadResult => {
  const positionAt = positionsIn(text);
  const documents = parseDocuments(text);
  const [first, second] = documents;
  if (first === undefined) return { problems: [fileProblem('is empty; a configuration is required')] };
  const result = readDocument(first, positionAt);
  if (second === undefined) return result;
  const at = positionAt(second.range?.[0] ?? 0);
  const several = `holds ${documents.length} YAML documents and only the first counts; keep one`;
  return { ...result, problems: [...result.problems, fileProblem(several, severalDocuments, at)] };
};

/**
 * Reads one YAML (or JSON) document. Never throws: every error is returned as a problem. If the text has several documents, the first
 * counts, and `severalDocuments` is the severity of the problem that reports them.
 */
export const readSource = (text: string, severalDocuments: Severity): ReadResult => {
  if (text.length > maxBytes || new TextEncoder().encode(text).length > maxBytes) {
    return { problems: [fileProblem('is larger than 256 KiB; no configuration needs that')] };
  }
  try {
    return readFirst(text.replace(/^\ufeff/, ''), severalDocuments);
  } catch (error) {
    // The parser is recursive: a file nested thousands of levels deep causes a RangeError.
    return { problems: [fileProblem(`cannot be read as YAML: ${(error as Error).message}`)] };
  }
};
