import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import { systemClock as clock, systemRandom as random } from '../process/index.ts';
import { createLogger } from '../telemetry/index.ts';

// These have explicit types: the declarations of the package must not import those of the program, which need packages that a user lacks.

/** Returns the clock of the machine. */
export const systemClock: () => Clock = clock;

/** Returns the random numbers of the machine. */
export const systemRandom: () => Random = random;

export type JsonLogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Options of `createJsonLogger`. */
export interface JsonLoggerOptions {
  /** Writes one line, which ends with a newline: for example `(line) => process.stdout.write(line)`. */
  readonly write: (line: string) => void;
  /** The lowest level that is written. Default `info`. */
  readonly level?: JsonLogLevel;
  /** Clock of the timestamps. Default: that of the machine. */
  readonly clock?: Pick<Clock, 'now'>;
}

/** Creates a logger that writes one line of JSON per record, with `level`, `ts` (RFC 3339), the fields and `msg`. Secrets are redacted by field name. */
export const createJsonLogger = ({ write, level = 'info', clock: times = clock() }: JsonLoggerOptions): Logger =>
  createLogger({ level, encoder: 'json', write, clock: times });
