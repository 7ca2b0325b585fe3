import type { Logger } from '../ports/logger.ts';
import { systemClock } from '../process/index.ts';
import { createLogger } from '../telemetry/index.ts';

export type JsonLogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Options of `createJsonLogger`. */
export interface JsonLoggerOptions {
  /** Writes one line, which ends with a newline: for example `(line) => process.stdout.write(line)`. */
  readonly write: (line: string) => void;
  /** The lowest level that is written. Default `info`. */
  readonly level?: JsonLogLevel;
}

/** Creates a logger that writes one line of JSON per record, with `level`, `ts` (RFC 3339), the fields and `msg`. Secrets are redacted by field name. */
export const createJsonLogger = ({ write, level = 'info' }: JsonLoggerOptions): Logger =>
  createLogger({ level, encoder: 'json', write, clock: systemClock() });
