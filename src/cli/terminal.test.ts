import { describe, expect, it } from 'vitest';
import { type HostTerminal, createTerminal } from './terminal.ts';

/** Creates a fake terminal. Its log shows escape characters as `^`. */
const fakeHost = (size: { readonly columns: number; readonly rows: number }) => {
  const log: string[] = [];
  let type: (chunk: Uint8Array) => void = () => undefined;
  let resize = (): void => undefined;
  const host: HostTerminal = {
    keys: {
      setRawMode: (isRaw) => log.push(`raw ${String(isRaw)}`),
      on: (_, listener) => {
        type = listener;
      },
      pause: () => log.push('pause'),
    },
    screen: {
      ...size,
      write: (text) => log.push(text.replaceAll('\u001b', '^')),
      on: (_, listener) => {
        resize = listener;
      },
    },
  };
  return { host, log, type: (...bytes: readonly number[]) => type(Uint8Array.from(bytes)), resize: () => resize() };
};

const nobody = { onKeys: () => undefined, onResize: () => undefined };

describe('the terminal', () => {
  it('is taken and restored once', () => {
    const { host, log } = fakeHost({ columns: 80, rows: 24 });
    const terminal = createTerminal(host);
    terminal.restore();
    expect(log).toEqual([]);
    terminal.take(nobody);
    expect(log).toEqual(['raw true', '^[?1049h^[?25l']);
    terminal.restore();
    terminal.restore();
    expect(log.slice(2)).toEqual(['^[?25h^[?1049l', 'raw false', 'pause']);
  });

  it('draws from the top, clearing each line before it is written', () => {
    const { host, log } = fakeHost({ columns: 2, rows: 2 });
    const terminal = createTerminal(host);
    terminal.draw(['too early']);
    terminal.take(nobody);
    terminal.draw(['ab', 'cd']);
    terminal.restore();
    terminal.draw(['too late']);
    expect(log.filter((text) => /[a-z]{2}/.test(text) && text.startsWith('^'))).toEqual(['^[H^[Kab\r\n^[Kcd']);
  });

  it('passes on keys, including letters whose bytes arrive separately, and new sizes while it is taken', () => {
    const { host, type, resize } = fakeHost({ columns: 80, rows: 24 });
    const terminal = createTerminal(host);
    const heard: string[] = [];
    terminal.take({ onKeys: (input) => heard.push(input), onResize: () => heard.push('resized') });
    type(0x63);
    type(0xc3);
    type(0xa4, 0x71);
    resize();
    terminal.restore();
    type(0x63);
    resize();
    expect(heard.filter((input) => input !== '')).toEqual(['c', 'äq', 'resized']);
  });

  it.each([
    [
      { columns: 132, rows: 50 },
      { columns: 132, rows: 50 },
    ],
    [
      { columns: 0, rows: 0 },
      { columns: 80, rows: 24 },
    ],
  ])('with the size %j reports %j', (size, told) => {
    expect(createTerminal(fakeHost(size).host).size()).toEqual(told);
  });
});
