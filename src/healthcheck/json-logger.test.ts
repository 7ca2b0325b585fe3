import { expect, it } from 'vitest';
import { createJsonLogger } from './json-logger.ts';

it('writes a line of JSON from its level on, by default from info', () => {
  const lines: unknown[] = [];
  const write = (line: string) => lines.push(JSON.parse(line));
  for (const logger of [createJsonLogger({ write }), createJsonLogger({ write, level: 'error' })]) {
    logger.debug('a');
    logger.child({ kind: 'Worker' }).info('b', { count: 1 });
    logger.error('c');
  }
  expect(lines).toMatchObject([
    { level: 'info', ts: expect.any(String) as unknown, kind: 'Worker', count: 1, msg: 'b' },
    { msg: 'c' },
    { msg: 'c' },
  ]);
});
