import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createTerminal } from './terminal.ts';

/** Creates a terminal of a fake stdin, with a log of what is done to that. */
const begin = (columns = 80) => {
  const log: string[] = [];
  const keys = Object.assign(new EventEmitter(), {
    setRawMode: (isRaw: boolean) => log.push(`raw ${String(isRaw)}`),
    pause: () => log.push('pause'),
  });
  const terminal = createTerminal(keys as unknown as NodeJS.ReadStream, { columns });
  return { terminal, log, type: (...bytes: readonly number[]) => keys.emit('data', Buffer.from(bytes)) };
};

describe('the terminal', () => {
  it('listens, and is restored once', () => {
    const { terminal, log } = begin();
    terminal.restore();
    expect(log).toEqual([]);
    terminal.listen(() => undefined);
    expect(log).toEqual(['raw true']);
    terminal.restore();
    terminal.restore();
    expect(log.slice(1)).toEqual(['raw false', 'pause']);
  });

  it('passes keys on, also a character that arrives in parts, until it is restored', () => {
    const { terminal, type } = begin();
    const keys: string[] = [];
    terminal.listen((input) => keys.push(input));
    type(0x63);
    type(0xc3);
    type(0xa4);
    terminal.restore();
    type(0x64);
    expect(keys.join('')).toBe('cä');
  });

  it.each([
    [120, 120],
    [0, 80],
  ])('of %i columns has %i', (columns, expected) => {
    expect(begin(columns).terminal.columns()).toBe(expected);
  });
});
