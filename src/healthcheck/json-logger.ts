import type { Clock } from '../ports/clock.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import { systemClock } from '../process/index.ts';

const levels = ['debug', 'info', 'warn', 'error'] as const;
export type JsonLogLevel = (typeof levels)[number];

/** Options of `createJsonLogger`. */
export interface JsonLoggerOptions {
  /** Writes one line, which ends with a newline: for example `(line) => process.stdout.write(line)`. */
  readonly write: (line: string) => void;
  /** The lowest level that is written. Default `info`. */
  readonly level?: JsonLogLevel;
  /** Clock of the timestamps. Default: that of the machine. */
  readonly clock?: Pick<Clock, 'now'>;
}

/** Replaces an Error by its stack, because JSON would show none of its fields. */
const shown = (_: string, value: unknown): unknown => (value instanceof Error ? (value.stack ?? value.message) : value);

/** Creates a logger that writes one line of JSON per record, with `level`, `ts` (RFC 3339), `msg` and the fields. An Error is written as its stack. */
export const createJsonLogger = ({ write, level = 'info', clock = systemClock() }: JsonLoggerOptions): Logger => {
  const over = (bound: LogFields): Logger => {
    const log = (at: JsonLogLevel) => (msg: string, fields?: LogFields) => {
      if (levels.indexOf(at) < levels.indexOf(level)) return;
      // These fields come first in the line, and no other field overwrites them.
      const own = { level: at, ts: new Date(clock.now()).toISOString() };
      const record = { ...own, ...bound, ...fields, ...own, msg };
      write(`${JSON.stringify(record, shown)}\n`);
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
