import { pino } from 'pino';
import type { Clock } from '../ports/clock.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import { formatConsoleLine } from './console-format.ts';
import { escapeControlsInLines } from './escape-controls.ts';
import { cleanFields } from './redact.ts';

/** zap's names. Warnings are printed down to `info`, and `panic` silences everything. */
export type LogLevel = 'debug' | 'info' | 'error' | 'panic';

export type LogEncoder = 'json' | 'console';

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly encoder: LogEncoder;
  /** Takes whole lines, each with its newline. */
  readonly write: (line: string) => void;
  readonly clock: Pick<Clock, 'now'>;
}

const reserved: ReadonlySet<string> = new Set(['level', 'ts', 'msg']);

/** A line has each name once: JSON parsers differ in which of two they take. */
const withoutReserved = (fields: LogFields): LogFields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [reserved.has(name) ? `${name}_` : name, value]));

/**
 * Structured log on pino: one line per record with `level`, `ts` (RFC 3339, UTC), the fields, and `msg`. Secrets are redacted by
 * field name. A field named `level`, `ts` or `msg` gets an underscore at its end.
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
