import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogFields, Logger } from '../ports/logger.ts';
import { type LogEncoder, type LogLevel, createLogger } from './logger.ts';

const at = Date.parse('2026-11-21T01:02:03.456Z');

const recording = (options: { readonly level?: LogLevel; readonly encoder?: LogEncoder } = {}) => {
  const lines: string[] = [];
  const logger = createLogger({
    level: options.level ?? 'debug',
    encoder: options.encoder ?? 'json',
    write: (line) => lines.push(line),
    clock: { now: () => at },
  });
  return { logger, lines, records: () => lines.map((line) => JSON.parse(line) as LogFields) };
};

const one = (fields: LogFields): LogFields => {
  const { logger, records } = recording();
  logger.info('hello', fields);
  return records()[0]!;
};

const logAtAll = (logger: Logger): void => {
  logger.debug('d');
  logger.info('i');
  logger.warn('w');
  logger.error('e');
};

describe('createLogger, json', () => {
  it('writes one JSON object per line', () => {
    const { logger, lines } = recording();
    logger.info('scaled down', { namespace: 'shoot--a--b', replicas: 0 });
    expect(lines).toEqual([
      '{"level":"info","ts":"2026-11-21T01:02:03.456Z","namespace":"shoot--a--b","replicas":0,"msg":"scaled down"}\n',
    ]);
  });

  it.each([
    ['debug', 'diwe'],
    ['info', 'iwe'],
    ['error', 'e'],
    ['panic', ''],
  ] as const)('at level %s prints %s', (level, expected) => {
    const { logger, records } = recording({ level });
    logAtAll(logger);
    logAtAll(logger.child({ a: 1 }));
    expect(
      records()
        .map(({ msg }) => msg)
        .join(''),
    ).toBe(expected + expected);
  });

  it('adds the fields of its parents, each name once, with the value of the nearest', () => {
    const { logger, lines, records } = recording();
    logger.child({ a: 1, b: 1, c: 1 }).child({ b: 2, c: 2 }).info('x', { c: 3 });
    expect(records()[0]).toMatchObject({ a: 1, b: 2, c: 3 });
    expect(lines[0]!.match(/"c":/g)).toHaveLength(1);
  });

  it('renames fields that have its reserved names', () => {
    expect(one({ level: 2, ts: 'now', msg: 'other' })).toEqual({
      level: 'info',
      ts: '2026-11-21T01:02:03.456Z',
      msg: 'hello',
      level_: 2,
      ts_: 'now',
      msg_: 'other',
    });
  });

  it('writes the stack of a bug, and type and code of an expected error', () => {
    const expected = Object.assign(new Error('conflict', { cause: new TypeError('inner') }), { code: 'Conflict' });
    expect(one({ error: new RangeError('oops') }).error).toEqual({
      type: 'RangeError',
      message: 'oops',
      stack: expect.stringContaining('RangeError: oops\n    at ') as string,
    });
    expect(one({ error: expected }).error).toEqual({
      type: 'Error',
      message: 'conflict',
      code: 'Conflict',
      cause: { type: 'TypeError', message: 'inner', stack: expect.any(String) as string },
    });
  });

  it('writes values that JSON cannot represent', () => {
    const fields = one({
      big: 2n ** 64n,
      nan: Number.NaN,
      infinite: -Infinity,
      absent: undefined,
      nothing: null,
    });
    expect(fields).toMatchObject({
      big: '18446744073709551616',
      nan: 'NaN',
      infinite: '-Infinity',
      nothing: null,
    });
    expect(fields).not.toHaveProperty('absent');
  });

  it('survives circular structures and getters that throw', () => {
    const loop: Record<string, unknown> = { a: 1 };
    loop.self = loop;
    expect(JSON.stringify(one({ loop }))).toContain('[too deep]');
    const trap = {
      get inner(): string {
        throw new Error('trap');
      },
    };
    expect(one({ trap, other: 1 })).toMatchObject({ msg: 'hello', unreadableFields: 'Error: trap' });
  });
});

describe('secrets', () => {
  it('prints our own configuration, which names Secrets but holds none', () => {
    const configuration = { selector: { key: 'role', token: 'a', list: [{ secret: 'b' }] } };
    expect(one({ configuration }).configuration).toEqual(configuration);
    // A text that is a secret by its form is redacted there, too.
    expect(one({ configuration: { a: 'Bearer abcdefghijkl' } }).configuration).toEqual({ a: 'Bearer [redacted]' });
    expect(one({ other: configuration, token: 'x' })).toMatchObject({ other: { selector: { token: '[redacted]' } } });
  });

  const names = ['token', 'password', 'kubeconfig', 'key', 'secretData', 'Authorization', 'client-key-data'];

  it.each(names)('never prints a field named %s', (name) => {
    const { logger, lines } = recording();
    const secret = 'hunter2';
    const error = Object.assign(new Error('x', { cause: { [name]: secret } }), { code: 'y', [name]: secret });
    logger.info('plain', { [name]: secret });
    logger.info('nested', { a: [{ b: { [name]: { c: secret } } }], error });
    logger.child({ [name]: secret }).info('bound');
    expect(lines.join('')).not.toContain(secret);
    expect(lines.join('').match(/\[redacted\]/g)).toHaveLength(4);
  });

  it('prints fields whose names only resemble those of secrets', () => {
    const fields = { kubeConfigSecretName: 'a', keys: 3, resourceKey: 'ns/b', tokenFile: 'c', namespace: 'd' };
    expect(one(fields)).toMatchObject(fields);
  });

  it('redacts no secret that is undefined or null', () => {
    expect(one({ token: undefined, password: null })).toMatchObject({ password: null });
  });

  it.each([
    'Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJrIn0.c2lnbmF0dXJl-_0',
    'authorization: basic dXNlcjpwYXNzd29yZA==',
    '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0',
  ])('redacts credentials inside of texts: %s', (text) => {
    const { logger, lines } = recording();
    logger.info('x', { problem: `sent ${text} and failed`, error: new Error(text) });
    expect(lines.join('')).not.toMatch(/eyJ|dXNlcjpw|MII|c2lnbmF0/);
  });
});

describe('createLogger, console', () => {
  it('writes one line for people', () => {
    const { logger, lines } = recording({ encoder: 'console' });
    logger.warn('it "waits"', { namespace: 'shoot--a--b', why: 'two words', count: 3, list: [1, 'a'], none: '' });
    expect(lines).toEqual([
      '2026-11-21T01:02:03.456Z WARN  it "waits" namespace=shoot--a--b why="two words" count=3 list=[1,"a"] none=""\n',
    ]);
  });

  const text = fc.string({ unit: 'binary' });

  it('writes one line of printable text for any fields and message', () => {
    fc.assert(
      fc.property(text, fc.dictionary(text, fc.anything({ key: text, values: [text] })), (message, fields) => {
        const { logger, lines } = recording({ encoder: 'console' });
        logger.error(message, fields);
        expect(lines).toHaveLength(1);
        const values = lines[0]!.slice(0, -1);
        return lines[0]!.endsWith('\n') && !/[\u0000-\u001f\u007f-\u009f]/.test(values);
      }),
    );
  });
});

it('any fields make one line of valid JSON', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
  });
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.dictionary(fc.string(), anything), (message, fields) => {
      const { logger, lines } = recording();
      logger.child(fields).info(message, fields);
      expect(lines).toHaveLength(1);
      expect(lines[0]!.indexOf('\n')).toBe(lines[0]!.length - 1);
      expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'info', ts: '2026-11-21T01:02:03.456Z' });
    }),
  );
});
