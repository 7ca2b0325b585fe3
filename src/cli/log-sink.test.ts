import { expect, it } from 'vitest';
import { createLogSink } from './log-sink.ts';

it('buffers at most 1 MiB and a line for a stalled reader, and reports each lost line, and their number once it reads again', () => {
  const pending: (() => void)[] = [];
  const reported: string[] = [];
  const line = `${'x'.repeat(1023)}\n`;
  const stream = {
    get writableLength() {
      return pending.length * line.length;
    },
    write: (_: string, done: () => void = () => undefined) => pending.push(done),
    on: () => undefined,
  };
  const write = createLogSink(stream, {
    onDropped: () => void reported.push('dropped'),
    onRecovered: (lines) => void reported.push(`recovered ${lines}`),
  });
  for (let count = 0; count < 3_000; count += 1) write(line);
  expect([pending.length, reported.length]).toEqual([1025, 3_000 - 1025]);
  while (pending.length > 0) pending.shift()?.();
  expect(reported.at(-1)).toBe('recovered 1975');
});
