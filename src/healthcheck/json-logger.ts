import type { Clock } from '../ports/clock.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import { systemClock } from '../process/index.ts';

const levels = ['debug', 'info', 'warn', 'error'] as const;
export type JsonLogLevel = (typeof levels)[number];

export interface JsonLoggerOptions {
  /** Takes whole lines, each with its newline, such as `(line) => process.stdout.write(line)`. */
  readonly write: (line: string) => void;
  /** The lowest level that is written. Default `info`. */
  readonly level?: JsonLogLevel;
  /** Default: the machine's. */
  readonly clock?: Pick<Clock, 'now'>;
}

/** An Error has no fields of its own that JSON would show. */
const shown = (_: string, value: unknown): unknown => (value instanceof Error ? (value.stack ?? value.message) : value);

/** One line of JSON per record: `level`, `ts` (RFC 3339), `msg` and the fields; an Error with its stack. */
export const createJsonLogger = ({ write, level = 'info', clock = systemClock() }: JsonLoggerOptions): Logger => {
  const over = (bound: LogFields): Logger => {
    const log = (at: JsonLogLevel) => (msg: string, fields?: LogFields) => {
      if (levels.indexOf(at) < levels.indexOf(level)) return;
      // First in the line, and not to be overwritten.
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
