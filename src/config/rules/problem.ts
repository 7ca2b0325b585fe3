import { shorten } from '../../kubernetes/api/shorten.ts';

export type Severity = 'error' | 'warning';

/** Keys and list indices from the root of the document. */
export type Path = readonly (string | number)[];

/** One thing that is wrong in a configuration file. */
export interface ConfigProblem {
  /** From 1, as editors count. */
  readonly line: number;
  readonly column: number;
  /** Such as `dependentResourceInfos[0].scaleUp.level`; `.` is the whole file. */
  readonly path: string;
  /** What is wrong and what is allowed, on one line. */
  readonly message: string;
  readonly severity: Severity;
}

/** What no single field can say about itself. */
export interface ConfigFinding {
  readonly path: Path;
  readonly message: string;
  readonly severity: Severity;
  /** Where the configuration is in use already, and not only looked at. */
  readonly whenRunning?: Severity | 'silent';
  /** About the key at the end of the path and not about its value. */
  readonly aboutKey?: true;
}

const plainKey = /^[\w-]+$/;

export const formatPath = (path: Path): string => {
  const text = path
    .map((step) => {
      if (typeof step === 'number') return `[${step}]`;
      const key = shorten(step);
      return plainKey.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
    })
    .join('');
  return text === '' ? '.' : text.replace(/^\./, '');
};

/** `FILE:LINE:COLUMN: path: message`, with the word `warning` for what does not make the file invalid. */
export const formatProblem = (file: string, problem: ConfigProblem): string => {
  const { line, column, path, message, severity } = problem;
  return `${file}:${line}:${column}: ${path}: ${severity === 'warning' ? 'warning: ' : ''}${message}`;
};

export const hasErrors = (problems: readonly ConfigProblem[]): boolean =>
  problems.some(({ severity }) => severity === 'error');

/** In the order of the file. */
export const sortProblems = (problems: readonly ConfigProblem[]): readonly ConfigProblem[] =>
  problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
