import { shorten } from '../../kubernetes/api/shorten.ts';

export type Severity = 'error' | 'warning';

/** Keys and list indices from the root of the document. */
export type Path = readonly (string | number)[];

/** An error or a warning about a configuration file. */
export interface ConfigProblem {
  /** Line and column count from 1, as in editors. */
  readonly line: number;
  readonly column: number;
  /** Path of a field, such as `dependentResourceInfos[0].scaleUp.level`; `.` is the whole file. */
  readonly path: string;
  /** One line that explains what is wrong and what is allowed. */
  readonly message: string;
  readonly severity: Severity;
}

/** A problem found by a rule, before its path is translated into a position in the file. */
export interface ConfigFinding {
  readonly path: Path;
  readonly message: string;
  readonly severity: Severity;
  /** Severity in a running component, if it differs from that in a check before use. */
  readonly whenRunning?: Severity | 'silent';
  /** Set if the problem is about the key at the end of the path and not about its value. */
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

/** Formats a problem as `FILE:LINE:COLUMN: path: message`, with `warning: ` before the message of a warning. */
export const formatProblem = (file: string, problem: ConfigProblem): string => {
  const { line, column, path, message, severity } = problem;
  return `${file}:${line}:${column}: ${path}: ${severity === 'warning' ? 'warning: ' : ''}${message}`;
};

export const hasErrors = (problems: readonly ConfigProblem[]): boolean =>
  problems.some(({ severity }) => severity === 'error');

/** Sorts problems by their position in the file. */
export const sortProblems = (problems: readonly ConfigProblem[]): readonly ConfigProblem[] =>
  problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
