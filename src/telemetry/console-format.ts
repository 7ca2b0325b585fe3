import { escapeControls } from './escape-controls.ts';

const plainValue = /^[\w./:@%+,;()[\]-]+$/;

const show = (value: unknown): string =>
  typeof value === 'string' && plainValue.test(value) ? value : JSON.stringify(value);

/**
 * Formats a JSON log line for people: time, level, message, `name=value` fields. Control characters are escaped, so that no text
 * from a cluster can break the line or control the terminal.
 */
export const formatConsoleLine = (json: string): string => {
  const { ts, level, msg, ...fields } = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${show(value)}`);
  const line = `${String(ts)} ${String(level).toUpperCase().padEnd(5)} ${String(msg)}${pairs.join('')}`;
  return `${escapeControls(line)}\n`;
};
