import { describe, expect, it } from 'vitest';
import { type OutputStream, createLogSink } from './log-sink.ts';

/** A stream whose writes the test ends, successfully or with an error. */
const createStream = () => {
  const pending: { readonly text: string; readonly done: (error?: Error) => void }[] = [];
  const stream: OutputStream = {
    get writableLength() {
      return pending.reduce((sum, { text }) => sum + text.length, 0);
    },
    write: (text, done = () => undefined) => pending.push({ text, done }),
    on: () => undefined,
  };
  return { stream, end: (error?: Error) => pending.shift()?.done(error), texts: () => pending.map(({ text }) => text) };
};

const createSink = () => {
  const reported: string[] = [];
  const stream = createStream();
  const write = createLogSink(stream.stream, {
    onDropped: () => void reported.push('dropped'),
    onRecovered: (lines) => void reported.push(`recovered ${lines}`),
  });
  return { ...stream, write, told: reported };
};

describe('createLogSink', () => {
  it('reports each line that fails, and reports once when lines are written again', () => {
    const { write, end, told } = createSink();
    for (const line of ['a\n', 'b\n', 'c\n', 'd\n']) write(line);
    end(new Error('no space'));
    end(new Error('no space'));
    end();
    expect(told).toEqual(['dropped', 'dropped']);
    end();
    expect(told).toEqual(['dropped', 'dropped', 'recovered 2']);
    write('e\n');
    end();
    expect(told).toHaveLength(3);
  });

  it('buffers at most 1 MiB and a line for a stalled reader', () => {
    const { write, texts, end, told } = createSink();
    const line = `${'x'.repeat(1023)}\n`;
    for (let count = 0; count < 3_000; count += 1) write(line);
    expect(texts()).toHaveLength(1025);
    expect(told).toHaveLength(3_000 - 1025);
    for (let count = 0; count < 1025; count += 1) end();
    expect(told.at(-1)).toBe('recovered 1975');
  });
});
