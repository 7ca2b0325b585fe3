import { describe, expect, it } from 'vitest';
import { type HostTerminal, createTerminal } from './terminal.ts';

/** Creates a fake terminal with a log of what is done to it. */
const fakeHost = (columns: number) => {
  const log: string[] = [];
  let type: (chunk: Uint8Array) => void = () => undefined;
  const host: HostTerminal = {
    keys: {
      setRawMode: (isRaw) => log.push(`raw ${String(isRaw)}`),
      on: (_, listener) => {
        type = listener;
      },
      pause: () => log.push('pause'),
    },
    screen: { columns },
  };
  return { host, log, type: (...bytes: readonly number[]) => type(Uint8Array.from(bytes)) };
};

describe('the terminal', () => {
  it('listens, and is restored once', () => {
    const { host, log } = fakeHost(80);
    const terminal = createTerminal(host);
    terminal.restore();
    expect(log).toEqual([]);
    terminal.listen(() => undefined);
    expect(log).toEqual(['raw true']);
    terminal.restore();
    terminal.restore();
    expect(log.slice(1)).toEqual(['raw false', 'pause']);
  });

  it('passes keys on, also a character that arrives in parts, until it is restored', () => {
    const { host, type } = fakeHost(80);
    const terminal = createTerminal(host);
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
    expect(createTerminal(fakeHost(columns).host).columns()).toBe(expected);
  });
});
