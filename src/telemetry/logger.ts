import { pino } from 'pino';
import type { Clock } from '../ports/clock.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import { escapeControls, escapeControlsInLines } from './escape-controls.ts';
import { cleanFields } from './redact.ts';

/** zap's names. `debug` and `info` include warnings; `panic` prints nothing. */
export type LogLevel = 'debug' | 'info' | 'error' | 'panic';

export type LogEncoder = 'json' | 'console';

export interface LoggerOptions {
  readonly level: LogLevel | 'warn';
  readonly encoder: LogEncoder;
  /** Called with whole lines, each with its newline. */
  readonly write: (line: string) => void;
  readonly clock: Pick<Clock, 'now'>;
}

const reserved: ReadonlySet<string> = new Set(['level', 'ts', 'msg']);

/** Renames fields with reserved names, because JSON parsers differ in which of two equal names they use. */
const withoutReserved = (fields: LogFields): LogFields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [reserved.has(name) ? `${name}_` : name, value]));

const plainValue = /^[\w./:@%+,;()[\]-]+$/;

const showField = (value: unknown): string =>
  typeof value === 'string' && plainValue.test(value) ? value : JSON.stringify(value);

/**
 * Formats a JSON log line for people: time, level, message, `name=value` fields. Control characters are escaped, so that no text
 * from a cluster can break the line or control the terminal.
 */
const formatConsoleLine = (json: string): string => {
  const { ts, level, msg, ...fields } = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${showField(value)}`);
  const line = `${String(ts)} ${String(level).toUpperCase().padEnd(5)} ${String(msg)}${pairs.join('')}`;
  return `${escapeControls(line)}\n`;
};

/**
 * Creates a structured log on pino: one line per record with `level`, `ts` (RFC 3339, UTC), the fields, and `msg`. Secrets are
 * redacted by field name. An underscore is appended to the name of a field `level`, `ts` or `msg`.
 */
export const createLogger = ({ level, encoder, write, clock }: LoggerOptions): Logger => {
  const sink = pino(
    {
      level: level === 'panic' ? 'fatal' : level,
      base: null,
      messageKey: 'msg',
      timestamp: () => `,"ts":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => write(encoder === 'json' ? escapeControlsInLines(line) : formatConsoleLine(line)) },
  );
  const over = (bound: LogFields): Logger => {
    const log = (at: 'debug' | 'info' | 'warn' | 'error') => (message: string, fields?: LogFields) => {
      if (sink.isLevelEnabled(at)) sink[at](withoutReserved(cleanFields({ ...bound, ...fields })), message);
    };
    return {
      debug: log('debug'),
      info: log('info'),
      warn: log('warn'),
      error: log('error'),
      child: (fields) => over({ ...bound, ...fields }),
    };
  };
  return over({});
};
