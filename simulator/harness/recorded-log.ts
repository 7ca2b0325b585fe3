import type { Clock } from '../../src/ports/clock.ts';
import type { Logger } from '../../src/ports/logger.ts';
import { createLogger } from '../../src/telemetry/index.ts';

/** A line of a component's log. */
export type LogRecord = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string };

/** Creates a logger that keeps its lines in memory. */
export const recordLog = (
  clock: Clock,
  level: 'debug' | 'info',
): { readonly log: readonly LogRecord[]; readonly logger: Logger } => {
  const log: LogRecord[] = [];
  const write = (line: string): void => void log.push(JSON.parse(line) as LogRecord);
  return { log, logger: createLogger({ level, encoder: 'json', clock, write }) };
};
