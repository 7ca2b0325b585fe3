import { stringify } from 'yaml';
import { escapeControlsInLines, hasControls } from '../telemetry/index.ts';
import { choice } from './flag-types.ts';
import { flag } from './parse-flags.ts';

/** How a command prints its result: `table` for people, the others for programs. */
export type OutputFormat = 'table' | 'json' | 'yaml';

const formats = choice<OutputFormat>('format', ['table', 'json', 'yaml']);

/** `-o`, `--output`. */
export const outputFlag = (description = 'Form of the result: table, json or yaml') =>
  flag(formats, 'table', description, 'o');

/** The same with `text`, as the table of this command was called once. */
export const outputFlagWithText = () => {
  const { parse } = formats;
  const type = { ...formats, parse: (word: string) => parse(word.toLowerCase() === 'text' ? 'table' : word) };
  return { ...outputFlag(), type };
};

const yaml = { lineWidth: 0, aliasDuplicateObjects: false } as const;

/** Only in double quotes can YAML say a control character without holding one. */
const yamlOf = (document: unknown): string => {
  const text = stringify(document, yaml);
  if (!hasControls(text)) return text;
  return escapeControlsInLines(
    stringify(document, { ...yaml, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' }),
  );
};

/** A result as JSON or YAML, without control characters other than line feeds: a terminal may show it. */
export const formatDocument = (value: unknown, format: Exclude<OutputFormat, 'table'>): string => {
  const json = JSON.stringify(value, null, 2);
  return format === 'json' ? `${escapeControlsInLines(json)}\n` : yamlOf(JSON.parse(json));
};
