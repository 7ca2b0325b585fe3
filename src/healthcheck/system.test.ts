import { expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { type JsonLoggerOptions, createJsonLogger } from './system.ts';

const setUp = (options: Partial<JsonLoggerOptions> = {}) => {
  const lines: string[] = [];
  const logger = createJsonLogger({ write: (line) => lines.push(line), clock: createVirtualClock(), ...options });
  return { lines, logger };
};
const at = '2026-01-01T00:00:00.000Z';

it('writes a line of JSON with its fields and those of its parent loggers', () => {
  const { lines, logger } = setUp();
  logger.child({ kind: 'Worker', name: 'a' }).child({ name: 'b' }).warn('well', { count: 1 });
  expect(lines).toEqual([`{"level":"warn","ts":"${at}","kind":"Worker","name":"b","count":1,"msg":"well"}\n`]);
});

it('writes records from its level on, by default from info', () => {
  const { lines, logger } = setUp();
  const { lines: few, logger: quiet } = setUp({ level: 'error' });
  for (const each of [logger, quiet]) {
    each.debug('a');
    each.info('b');
    each.warn('c');
    each.error('d');
  }
  expect([lines.length, few.length]).toEqual([3, 1]);
});
