import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FlagType,
  address,
  bool,
  choice,
  float,
  integer,
  logLevel,
  positiveDuration,
  text,
} from './flag-types.ts';
import { flag, normaliseArguments, optionalFlag, parseFlags, requiredFlag } from './parse-flags.ts';

/** Texts and the values that Go's parser of the same type returns for them; undefined for an error there, or a value out of our range. */
const cases: readonly (readonly [
  name: string,
  type: FlagType<unknown>,
  table: readonly (readonly [string, unknown])[],
])[] = [
  [
    'bool',
    bool,
    [
      ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((word) => [word, true] as const),
      ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((word) => [word, false] as const),
      ...['', 'yes', 'no', 'on', 'tRUE', 'y', '2', ' true', 'truee'].map((word) => [word, undefined] as const),
    ],
  ],
  [
    'integer',
    integer({ min: -100 }),
    [
      ...([
        ['1', 1],
        ['+1', 1],
        ['-1', -1],
        ['01', 1],
        ['010', 8],
        ['08', undefined],
        ['0x1F', 31],
        ['0X1f', 31],
      ] as const),
      ...([
        ['0b11', 3],
        ['0o17', 15],
        ['1_000', 1_000],
        ['0x_1f', 31],
        ['_1', undefined],
        ['1_', undefined],
      ] as const),
      ...([
        ['1__0', undefined],
        ['', undefined],
        ['1.0', undefined],
        ['1e3', undefined],
        [' 1', undefined],
      ] as const),
      ...([
        ['9007199254740993', undefined],
        ['0', 0],
        ['-0', 0],
        ['00', 0],
        ['0_1', 1],
        ['-101', undefined],
      ] as const),
      ...([
        ['0x', undefined],
        ['0o', undefined],
        ['0b', undefined],
        ['0b2', undefined],
        ['0o8', undefined],
      ] as const),
      ...([
        ['0_', undefined],
        ['0x1_', undefined],
        ['--1', undefined],
        ['+-1', undefined],
        ['-', undefined],
      ] as const),
    ],
  ],
  [
    'float',
    float,
    [
      ...([
        ['1', 1],
        ['+1', 1],
        ['1.', 1],
        ['1.5', 1.5],
        ['.5', 0.5],
        ['.', undefined],
        ['1e3', 1_000],
      ] as const),
      ...([
        ['1E-3', 0.001],
        ['1e', undefined],
        ['010', 10],
        ['0', 0],
        ['-0', 0],
        ['-1.5', -1.5],
        ['1_0.2_5', 10.25],
        ['1__0', undefined],
      ] as const),
      ...([
        ['inf', Infinity],
        ['-Inf', -Infinity],
        ['NaN', Number.NaN],
        ['+nan', undefined],
        ['+Infinity', Infinity],
        ['infinite', undefined],
        ['1e400', undefined],
      ] as const),
      ...([
        ['', undefined],
        [' 1', undefined],
        ['1,5', undefined],
        ['0x10', undefined],
        ['5 ', undefined],
      ] as const),
    ],
  ],
  [
    'duration',
    positiveDuration,
    [
      ...([
        ['15s', 15_000],
        ['1m30s', 90_000],
        ['0.5s', 500],
        ['1ns', 1e-6],
        ['0', undefined],
        ['0s', undefined],
      ] as const),
      ...([
        ['-1s', undefined],
        ['15', undefined],
        ['', undefined],
        ['1d', undefined],
        ['s', undefined],
      ] as const),
    ],
  ],
  [
    'address',
    address,
    [
      [':9643', { host: '', port: 9643 }],
      ['127.0.0.1:9643', { host: '127.0.0.1', port: 9643 }],
      ['localhost:1', { host: 'localhost', port: 1 }],
      ['[::1]:9643', { host: '::1', port: 9643 }],
      ['[::]:0', { host: '::', port: 0 }],
      ['[fe80::1%eth0]:1', { host: 'fe80::1%eth0', port: 1 }],
      ['0.0.0.0:65535', { host: '0.0.0.0', port: 65_535 }],
      [':', { host: '', port: 0 }],
      ...['', '9643', ':65536', ':-1', ':x', '::1:9643', '[::1]', '[]:1', 'http://a:1', 'a b:1', ':1:2', '00'].map(
        (word) => [word, undefined] as const,
      ),
    ],
  ],
  [
    'log level',
    logLevel,
    [
      ...([
        ['debug', 'debug'],
        ['INFO', 'info'],
        ['Error', 'error'],
        ['panic', 'panic'],
        ['0', 'info'],
        ['1', 'debug'],
      ] as const),
      ...([
        ['10', 'debug'],
        ['08', 'debug'],
        ['+1', 'debug'],
        ['0x1', undefined],
        ['-1', undefined],
        ['warn', undefined],
        ['', undefined],
        ['1.5', undefined],
      ] as const),
    ],
  ],
  [
    'choice',
    choice('x', ['json', 'console']),
    [
      ['json', 'json'],
      ['CONSOLE', 'console'],
      ['', undefined],
      ['xml', undefined],
    ],
  ],
  [
    'text',
    text('x', 'a text'),
    [
      ['a', 'a'],
      [' ', ' '],
      ['', undefined],
    ],
  ],
];

describe('flag types', () => {
  const rows = cases.flatMap(([name, type, table]) => table.map(([word, value]) => ({ name, type, word, value })));

  it.each(rows)('$name: "$word" is $value', ({ type, word, value }) => {
    expect(type.parse(word)?.value).toEqual(value);
  });

  it('read the address 0 as turned off', () => {
    expect(address.parse('0')).toEqual({ value: undefined });
  });

  it('never throw', () => {
    fc.assert(
      fc.property(fc.constantFrom(...cases), fc.string({ unit: 'binary' }), ([, type], word) => {
        type.parse(word);
      }),
    );
  });
});

const flags = {
  name: requiredFlag(text('text', 'a text'), ''),
  on: flag(bool, 'false', ''),
  count: flag(integer({ min: 1 }), '3', ''),
  other: optionalFlag(text('text', 'a text'), ''),
};

describe('normaliseArguments', () => {
  it.each([
    [['--name=a'], ['--name=a']],
    [['--name', 'a'], ['--name=a']],
    [['-name', 'a'], ['--name=a']],
    [['-name=a'], ['--name=a']],
    [['--name=a=b'], ['--name=a=b']],
    [['--name='], ['--name=']],
    [['--name', ''], ['--name=']],
    [['--name', '-x'], ['--name=-x']],
    [['--name', '--on'], ['--name=--on']],
    [['--name', '--'], ['--name=--']],
    [['--count', '-1'], ['--count=-1']],
    [['--on'], ['--on=true']],
    [['-on'], ['--on=true']],
    [['--on=false'], ['--on=false']],
    [['-on=0'], ['--on=0']],
    [['--on', 'false'], ['--on=false']],
    [
      ['--on', 'maybe'],
      ['--on=true', 'maybe'],
    ],
    [
      ['--on', '--name', 'a'],
      ['--on=true', '--name=a'],
    ],
    [
      ['--on', '-'],
      ['--on=true', '-'],
    ],
    [
      ['file', '--on', '-', 'file'],
      ['file', '--on=true', '-', 'file'],
    ],
    [
      ['--on', '--', '--name'],
      ['--on=true', '--', '--name'],
    ],
    [['-h'], ['--help']],
    [['-help'], ['--help']],
    [['--help'], ['--help']],
    [
      ['--unknown', 'x'],
      ['--unknown', 'x'],
    ],
    [['-unknown=x'], ['--unknown']],
    [
      ['--constructor', 'x'],
      ['--constructor', 'x'],
    ],
    [['-5'], ['--5']],
    [['---name'], ['---name']],
    [['--=a'], ['--=a']],
    [['--name=two\nlines'], ['--name=two\nlines']],
  ])('%j becomes %j', (args, expected) => {
    expect(normaliseArguments(args, flags)).toEqual(expected);
  });

  it('end at the first argument that is no flag, if asked to', () => {
    const untilOperand = (...args: string[]) => normaliseArguments(args, flags, { untilOperand: true });
    expect(untilOperand('--on', 'maybe', '--name=a')).toEqual(['--on=true', '--', 'maybe', '--name=a']);
    expect(untilOperand('-', '--x')).toEqual(['--', '-', '--x']);
    expect(untilOperand('', '--x')).toEqual(['--', '', '--x']);
    expect(untilOperand('--name', 'a', '--', '--x')).toEqual(['--name=a', '--', '--x']);
    expect(untilOperand('---x')).toEqual(['---x']);
  });

  it.each(['--name', '-name', '--count'])('refuses %s without a value', (arg) => {
    expect(() => normaliseArguments([arg], flags)).toThrow(/^flag --(name|count) needs a value; it takes a /);
  });

  it('changes nothing when applied twice', () => {
    const word = fc.constantFrom(
      '--name=a',
      '-on',
      '--on',
      '--count',
      '3',
      'false',
      '-',
      '--',
      '-h',
      '--x',
      'file',
      '',
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

describe('parseFlags', () => {
  it('fills in defaults', () => {
    expect(parseFlags(flags, { name: 'a' })).toEqual({ name: 'a', on: false, count: 3, other: undefined });
  });

  it.each([
    [{}, 'flag --name is required; it takes a text'],
    [{ name: '' }, 'flag --name takes a text; it was given ""'],
    [{ name: 'a', count: '0' }, 'flag --count takes a whole number >= 1; it was given "0"'],
    [
      { name: 'a', on: 'yes' },
      'flag --on takes true or false (also t, f, 1, 0), or no value for true; it was given "yes"',
    ],
  ])('refuses %j', (given, message) => {
    expect(() => parseFlags(flags, given)).toThrow(message);
  });
});
