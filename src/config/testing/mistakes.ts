import { parseDocument } from 'yaml';

/** A text that is or should be a configuration, and all its problems. */
export interface ConfigCase {
  readonly name: string;
  readonly text: string;
  /** Problems in the form `LINE:COLUMN: PATH: MESSAGE`. */
  readonly problems: readonly string[];
}

interface Edited {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

const partsOf = (path: string): readonly (string | number)[] =>
  [...path.matchAll(/\["(.*?)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(([, quoted, index, key]) =>
    index === undefined ? (quoted ?? key ?? '') : Number(index),
  );

/** Replaces the value at `path` of the base, and returns its position. The path `+` appends a line. */
const edit = (base: string, path: string, value: string): Edited => {
  if (path === '+') return { text: `${base}${value}\n`, line: base.split('\n').length, column: 1 };
  const node = parseDocument(base).getIn(partsOf(path), true) as { readonly range?: readonly [number, number] };
  const [from, to] = node.range ?? [];
  if (from === undefined || to === undefined) throw new Error(`the base has nothing at ${path}`);
  const before = base.slice(0, from);
  const end = base[to - 1] === '\n' ? '\n' : '';
  return {
    text: before + value + end + base.slice(to),
    line: before.split('\n').length,
    column: from - before.lastIndexOf('\n'),
  };
};

/** Reads a problem of a row: a message about the value itself, or `+COLUMNS SUBPATH: MESSAGE` about a part of it. The subpath `/` is the whole file. */
const problemAt = (told: string, path: string, { line, column }: Edited): string => {
  const [, columns = '0', part = '', message = told] = /^\+(\d+) (.*?): (.*)$/.exec(told) ?? [];
  const about = part === '/' ? '.' : path === '+' ? part : path + part;
  return `${line}:${column + Number(columns)}: ${about}: ${message}`;
};

const caseOfRow = (base: string, row: string): ConfigCase => {
  const [name = '', ...told] = row.split(' => ');
  const [path = '', ...value] = name.split(' = ');
  const edited = edit(base, path, value.join(' = '));
  return { name, text: edited.text, problems: told.map((one) => problemAt(one, path, edited)) };
};

const caseOfText = (name: string, body: string): ConfigCase => {
  const lines = body.split(/(?<=\n)/);
  const isProblem = (line: string): boolean => line.startsWith('=> ');
  const problems = lines.filter(isProblem).map((line) => line.slice('=> '.length).trimEnd());
  return { name, text: lines.filter((line) => !isProblem(line)).join(''), problems };
};

/**
 * Reads the cases of a file such as fixtures/prober.txt. Its sections begin with `### NAME`: `base`, a configuration with every field; `mistakes`, with
 * one row `PATH = VALUE => PROBLEM` per mistake in the base; and whole texts, with a line `=> LINE:COLUMN: PATH: MESSAGE` for each problem.
 */
export const configCases = (file: string): readonly ConfigCase[] => {
  const [, ...sections] = file.split(/^### (.*)\n/m);
  const bodies = new Map(sections.flatMap((name, at) => (at % 2 === 0 ? [[name, sections[at + 1] ?? '']] : [])));
  const base = bodies.get('base') ?? '';
  const rows = (bodies.get('mistakes') ?? '').split('\n').filter((row) => row !== '');
  bodies.delete('mistakes');
  return [...rows.map((row) => caseOfRow(base, row)), ...[...bodies].map(([name, body]) => caseOfText(name, body))];
};

export const textOf = (cases: readonly ConfigCase[], name: string): string => {
  const found = cases.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found.text;
};
