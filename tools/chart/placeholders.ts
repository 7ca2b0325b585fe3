/**
 * Placeholders for values that are known only when the chart is installed. The code that renders manifests handles them like values: as text,
 * alone or within other text, and as numbers, lists and objects that it passes on. `fillIn` then replaces them with template expressions.
 */

/** Format of a placeholder that is a whole YAML value. `optional`: the key is omitted if the value is empty. */
type Form = 'number' | 'data' | 'optional' | 'entries';

const marks: Readonly<Record<Form, string>> = { number: '#', data: '*', optional: '?', entries: '+' };

/** Brackets that occur nowhere else and that YAML does not quote. */
const [open, close] = ['\u27e6', '\u27e7'];

const expressions: string[] = [];

const markOf = (expression: string, form?: Form): string => {
  if (!expressions.includes(expression)) expressions.push(expression);
  return `${open}${expressions.indexOf(expression)}${form === undefined ? '' : marks[form]}${close}`;
};

class StandIn {
  readonly expression: string;
  readonly form: Form;

  constructor(expression: string, form: Form) {
    this.expression = expression;
    this.form = form;
  }

  /** The placeholder within other text. */
  toString(): string {
    return markOf(this.expression);
  }

  /** The placeholder as a whole value in YAML. */
  toJSON(): string {
    return markOf(this.expression, this.form);
  }
}

export const text = (expression: string): string => markOf(expression);

/** Placeholder for a whole number. `int` prevents Go's templates from printing large numbers with an exponent. */
export const number = (value: string): number => new StandIn(`(int ${value})`, 'number') as unknown as number;

/** Placeholder for a list or an object, of any type. */
export const data = (expression: string): never => new StandIn(expression, 'data') as never;

/** Placeholder for a value of any type, omitted if it is empty. */
export const optional = (expression: string): never => new StandIn(expression, 'optional') as never;

/** Placeholder for entries of an object, to be spread into others by `...`. */
export const entries = (expression: string): Readonly<Record<string, string>> => ({
  [markOf(expression, 'entries')]: '',
});

const expressionOf = (index: string): string => {
  const expression = expressions[Number(index)];
  if (expression === undefined) throw new Error(`no stand-in ${index}`);
  return expression;
};

const mark = String.raw`${open}(\d+)([#*?+])?${close}`;
const wholeValue = new RegExp(`^( *(?:- )?)([\\w./-]+: )?${mark}$`);
const entriesLine = new RegExp(`^( *)${mark}: ""$`);
const within = new RegExp(mark, 'g');

const lineOf = (line: string): string => {
  const [, indent = '', index = ''] = entriesLine.exec(line) ?? [];
  if (index !== '') {
    const range = `{{- range $key, $value := ${expressionOf(index)} }}`;
    return [range, `${indent}{{ $key | toJson }}: {{ $value | toString | toJson }}`, '{{- end }}'].join('\n');
  }
  const [, start, key = '', number_ = '', form] = wholeValue.exec(line) ?? [];
  if (start === undefined) return line.replaceAll(within, (_, number_: string) => `{{ ${expressionOf(number_)} }}`);
  const expression = expressionOf(number_);
  switch (form) {
    case marks.number:
      return `${start}${key}{{ ${expression} }}`;
    case marks.data:
      return `${start}${key}{{ ${expression} | toJson }}`;
    case marks.optional:
      return [`{{- with ${expression} }}`, `${start}${key}{{ toJson . }}`, '{{- end }}'].join('\n');
    case undefined:
    default:
      return `${start}${key}{{ ${expression} | toString | toJson }}`;
  }
};

/** Converts YAML with placeholders to a template. */
export const fillIn = (yaml: string): string => yaml.split('\n').map(lineOf).join('\n');
