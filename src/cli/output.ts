import { styleText } from 'node:util';
import { stringify } from 'yaml';
import { escapeControlsInLines, hasControls } from '../telemetry/index.ts';
import { choice } from './flag-types.ts';
import { flag } from './parse-flags.ts';

/** Format in which a command prints its result: `table` for people, the others for programs. */
export type OutputFormat = 'table' | 'json' | 'yaml';

const formats = choice<OutputFormat>('format', ['table', 'json', 'yaml']);

/** The flag `-o`, `--output`. */
export const outputFlag = (description = 'Output format: table, json or yaml') =>
  flag(formats, 'table', description, 'o');

const yaml = { lineWidth: 0, aliasDuplicateObjects: false } as const;

/** Formats YAML with double quotes if there are control characters, because only double-quoted YAML can escape them. */
const yamlOf = (document: unknown): string => {
  const text = stringify(document, yaml);
  if (!hasControls(text)) return text;
  return escapeControlsInLines(
    stringify(document, { ...yaml, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' }),
  );
};

/** Formats a result as JSON or YAML, without control characters other than line feeds, so that it is safe for a terminal. */
export const formatDocument = (value: unknown, format: Exclude<OutputFormat, 'table'>): string => {
  const json = JSON.stringify(value, null, 2);
  return format === 'json' ? `${escapeControlsInLines(json)}\n` : yamlOf(JSON.parse(json));
};

type Colour = Parameters<typeof styleText>[0];

/** Colours each status that `colours` lists. `styleText` does so only if stdout is a terminal and `NO_COLOR` is not set. */
export const colourBy = <Status extends string>(colours: Readonly<Record<Status, Colour>>) => {
  const known = new Map(Object.entries<Colour>(colours));
  return (status: string, text: string): string => {
    const colour = known.get(status);
    return colour === undefined ? text : styleText(colour, text);
  };
};
