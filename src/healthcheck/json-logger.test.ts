import { expect, it } from 'vitest';
import { createFakeClock } from '../../test/doubles/fake-clock.ts';
import { type JsonLoggerOptions, createJsonLogger } from './json-logger.ts';

const setUp = (options: Partial<JsonLoggerOptions> = {}) => {
  const lines: string[] = [];
  const logger = createJsonLogger({ write: (line) => lines.push(line), clock: createFakeClock(), ...options });
  return { lines, logger };
};
const at = '2026-01-01T00:00:00.000Z';

it('writes a line of JSON with the fields of all loggers that it comes from', () => {
  const { lines, logger } = setUp();
  logger.child({ kind: 'Worker', name: 'a' }).child({ name: 'b' }).warn('well', { count: 1 });
  expect(lines).toEqual([`{"level":"warn","ts":"${at}","kind":"Worker","name":"b","count":1,"msg":"well"}\n`]);
});

it('writes what is worth its level, info if none is given', () => {
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

it('shows errors, and lets no field take the place of its own', () => {
  const { lines, logger } = setUp();
  logger.error('bad', { error: new TypeError('no such thing'), level: 'x', ts: 'y', msg: 'z' });
  const [line = ''] = lines;
  expect(JSON.parse(line)).toMatchObject({ level: 'error', ts: at, msg: 'bad' });
  expect(line).toContain('TypeError: no such thing');
});
