import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FlagType, address, bool, float, integer, positiveDuration, text } from './flag-types.ts';
import { flag, normaliseArguments, requiredFlag } from './parse-flags.ts';

interface TypeCase {
  readonly type: FlagType<unknown>;
  readonly takes: readonly (readonly [text: string, value: unknown])[];
  readonly refuses: readonly string[];
}

/** Texts and the values that Go's parser of the same type returns for them, and texts that it refuses or that are out of our range, beside what fixtures/go-flags.json records. */
const cases: Readonly<Record<string, TypeCase>> = {
  bool: {
    type: bool,
    takes: [
      ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((word) => [word, true] as const),
      ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((word) => [word, false] as const),
    ],
    refuses: ['', 'yes', 'no', 'on', 'tRUE', 'y', '2', ' true', 'truee'],
  },
  integer: {
    type: integer({ min: -100 }),
    takes: [
      ...['1', '+1', '01', '0_1'].map((word) => [word, 1] as const),
      ...['0', '-0', '00'].map((word) => [word, 0] as const),
      ...['0x1F', '0X1f', '0x_1f'].map((word) => [word, 31] as const),
      ...([
        ['-1', -1],
        ['010', 8],
        ['0b11', 3],
        ['0o17', 15],
        ['1_000', 1_000],
      ] as const),
    ],
    refuses: [
      ...['08', '_1', '1_', '1__0', '', '1.0', '1e3', ' 1', '9007199254740993', '-101', '0x', '0o', '0b', '0b2', '0o8'],
      ...['0_', '0x1_', '--1', '+-1', '-'],
    ],
  },
  port: {
    type: integer({ min: 0, max: 65_535 }),
    takes: [
      ['0', 0],
      ['65535', 65_535],
    ],
    refuses: ['-1', '65536', '70000'],
  },
  float: {
    type: float,
    takes: [
      ...['1', '+1', '1.'].map((word) => [word, 1] as const),
      ...['0', '-0'].map((word) => [word, 0] as const),
      ...['inf', '+Infinity'].map((word) => [word, Infinity] as const),
      ...([
        ['1.5', 1.5],
        ['.5', 0.5],
        ['1e3', 1_000],
        ['1E-3', 0.001],
        ['010', 10],
        ['-1.5', -1.5],
      ] as const),
      ...([
        ['1_0.2_5', 10.25],
        ['-Inf', -Infinity],
        ['NaN', Number.NaN],
      ] as const),
    ],
    refuses: ['.', '1e', '1__0', '+nan', 'infinite', '1e400', '', ' 1', '1,5', '0x10', '5 '],
  },
  duration: {
    type: positiveDuration,
    takes: [
      ['15s', 15_000],
      ['1m30s', 90_000],
      ['1ns', 1e-6],
    ],
    refuses: ['0', '0s', '-1s', '15', '', '1d', 's'],
  },
  address: {
    type: address,
    takes: [
      [':9643', { host: '', port: 9643 }],
      ['localhost:1', { host: 'localhost', port: 1 }],
      ['[::1]:9643', { host: '::1', port: 9643 }],
      ['[fe80::1%eth0]:1', { host: 'fe80::1%eth0', port: 1 }],
      ['0.0.0.0:65535', { host: '0.0.0.0', port: 65_535 }],
      [':', { host: '', port: 0 }],
    ],
    refuses: ['', '9643', ':65536', ':-1', ':x', '::1:9643', '[::1]', '[]:1', 'http://a:1', 'a b:1', ':1:2', '00'],
  },
};

describe('flag types', () => {
  it.each(Object.entries(cases))('%s', (_name, { type, takes, refuses }) => {
    expect(takes.map(([word]) => [word, type.parse(word)?.value])).toEqual(takes);
    expect(refuses.filter((word) => type.parse(word) !== undefined)).toEqual([]);
  });

  it('read the address 0 as turned off', () => {
    expect(address.parse('0')).toEqual({ value: undefined });
  });

  it('never throw', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(cases)), fc.string({ unit: 'binary' }), ({ type }, word) => {
        type.parse(word);
      }),
    );
  });
});

const flags = {
  name: requiredFlag(text('text', 'a text'), ''),
  on: flag(bool, 'false', ''),
  count: flag(integer({ min: 1 }), '3', ''),
};

describe('normaliseArguments', () => {
  it.each([
    ['--name=a', '--name=a'],
    ['--name a', '--name=a'],
    ['--name=a=b', '--name=a=b'],
    ['--name=', '--name='],
    ['--name -x', '--name=-x'],
    ['--name --', '--name=--'],
    ['--count -1', '--count=-1'],
    ['--on', '--on=true'],
    ['-on=0', '--on=0'],
    ['--on false', '--on=false'],
    ['--on maybe', '--on=true maybe'],
    ['--on --name a', '--on=true --name=a'],
    ['file --on - file', 'file --on=true - file'],
    ['--on -- --name', '--on=true -- --name'],
    ['-h', '--help'],
    ['--unknown x', '--unknown x'],
    ['-unknown=x', '--unknown'],
    ['--constructor x', '--constructor x'],
    ['-5', '--5'],
    ['--=a', '--=a'],
    ['--name=two\nlines', '--name=two\nlines'],
  ])('%j becomes %j', (line, expected) => {
    expect(normaliseArguments(line.split(' '), flags).join(' ')).toBe(expected);
  });

  it('changes nothing when applied twice', () => {
    const word = fc.constantFrom(
      ...['--name=a', '-on', '--on', '--count', '3', 'false', '-', '--', '-h', '--x', 'file', ''],
    );
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const args = [...words, 'last'];
        const once = normaliseArguments(args, flags);
        expect(normaliseArguments(once, flags)).toEqual(once);
      }),
    );
  });
});
