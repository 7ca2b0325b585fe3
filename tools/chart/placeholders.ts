/**
 * Stand-ins for values that are known only when the chart is installed. What renders manifests handles them like the values: as text, whole or within other text,
 * as numbers, lists and objects that it passes on. `fillIn` makes templates of what became of them.
 */

/** How a stand-in that is a whole value of YAML is written. `optional`: the key goes where the value is empty. */
type Form = 'number' | 'data' | 'optional' | 'entries';

const marks: Readonly<Record<Form, string>> = { number: '#', data: '*', optional: '?', entries: '+' };

/** Brackets that nothing else uses and that YAML does not quote. */
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

  /** Within text. */
  toString(): string {
    return markOf(this.expression);
  }

  /** As a whole value, when it is written as YAML. */
  toJSON(): string {
    return markOf(this.expression, this.form);
  }
}

export const text = (expression: string): string => markOf(expression);

/** A whole number. `int` keeps Go's templates from writing large ones with an exponent. */
export const number = (value: string): number => new StandIn(`(int ${value})`, 'number') as unknown as number;

/** A list or an object, of any type. */
export const data = (expression: string): never => new StandIn(expression, 'data') as never;

/** Left out where it is empty; of any type. */
export const optional = (expression: string): never => new StandIn(expression, 'optional') as never;

/** Entries of an object that are added to others by `...`. */
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

/** Text of YAML with stand-ins as the text of a template. */
export const fillIn = (yaml: string): string => yaml.split('\n').map(lineOf).join('\n');
