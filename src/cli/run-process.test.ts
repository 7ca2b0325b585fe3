import { describe, expect, it } from 'vitest';
import { createLogger } from '../telemetry/logger.ts';
import type { CliIo } from './io.ts';
import type { OutputStream } from './log-sink.ts';
import { type HostProcess, runProcess } from './run-process.ts';
import type { HostTerminal } from './terminal.ts';

/** A fake process. Unlike the real one, its `exit` returns. */
const fakeProcess = () => {
  const log: string[] = [];
  const exits: number[] = [];
  const signals = new Map<string, () => void>();
  const outputErrors: ((error: unknown) => void)[] = [];
  let crashed: (what: 'uncaught exception' | 'unhandled rejection', error: unknown) => void = () => undefined;

  const output = (name: string): OutputStream => ({
    writableLength: 0,
    write: (text, done) => {
      if (text !== '') log.push(`${name}: ${text}`);
      if (done !== undefined) queueMicrotask(() => done());
      return true;
    },
    on: (_event, listener) => outputErrors.push(listener),
  });
  const host: HostProcess = {
    argv: ['version'],
    env: { A: 'b' },
    version: 'v24.0.0',
    stdin: (async function* () {
      yield new TextEncoder().encode('typed');
    })(),
    stdout: output('out'),
    stderr: output('err'),
    isAttended: false,
    platform: 'linux',
    start: (program, args) => void log.push([program, ...args].join(' ')),
    onSignal: (name, listener) => void signals.set(name, listener),
    onCrash: (listener) => {
      crashed = listener;
    },
    exit: (code) => void exits.push(code),
  };
  return {
    host,
    log,
    exits,
    signals,
    crash: (...crash: Parameters<typeof crashed>) => crashed(...crash),
    failOutput: (code: string) =>
      outputErrors.forEach((listener) => listener(Object.assign(new Error(`${code}: failed, write`), { code }))),
  };
};

const forever = (io: CliIo): Promise<number> => new Promise(() => io.stopOnSignals());

/** A fake terminal that logs when it is taken and restored. */
const fakeTerminal = (log: string[]): HostTerminal => ({
  keys: { setRawMode: (isRaw) => log.push(`raw ${String(isRaw)}`), on: () => undefined, pause: () => undefined },
  screen: { columns: 80 },
});

describe('runProcess on a desktop', () => {
  it.each([
    ['linux', { DISPLAY: ':0' }, 'xdg-open http://127.0.0.1:1/'],
    ['linux', { WAYLAND_DISPLAY: 'w' }, 'xdg-open http://127.0.0.1:1/'],
    ['linux', {}, undefined],
    ['linux', { DISPLAY: ':0', SSH_CONNECTION: 'x' }, undefined],
    ['darwin', {}, 'open http://127.0.0.1:1/'],
    ['win32', {}, 'rundll32 url.dll,FileProtocolHandler http://127.0.0.1:1/'],
  ])('opens an address in the browser: %s %j', async (platform, env, started) => {
    const { host, log } = fakeProcess();
    await runProcess({ ...host, platform, env, terminal: fakeTerminal([]) }, async (io) => {
      io.openInBrowser?.(new URL('http://127.0.0.1:1'));
      return 0;
    });
    expect(log.includes(started ?? '')).toBe(started !== undefined);
    let withoutTerminal: CliIo | undefined;
    await runProcess({ ...host, platform, env }, async (io) => {
      withoutTerminal = io;
      return 0;
    });
    expect(withoutTerminal?.openInBrowser).toBeUndefined();
  });
});

describe('runProcess in a terminal', () => {
  it('passes the terminal to the command, if there is one', async () => {
    const { host, log } = fakeProcess();
    await runProcess({ ...host, terminal: fakeTerminal(log) }, async (io) => {
      expect(io.terminal?.columns()).toBe(80);
      return 0;
    });
    await runProcess(host, async (io) => {
      expect(io.terminal).toBeUndefined();
      return 0;
    });
    expect(log).toEqual([]);
  });

  it.each<[how: string, end: (set: ReturnType<typeof fakeProcess>) => void, code: number]>([
    ['a second signal', ({ signals }) => ['SIGTERM', 'SIGTERM'].forEach((name) => signals.get(name)?.()), 143],
    ['an uncaught exception', ({ crash }) => crash('uncaught exception', new Error('bug')), 1],
  ])('restores it before the process ends by %s', async (_, end, code) => {
    const set = fakeProcess();
    const { host, log, exits } = set;
    void runProcess({ ...host, terminal: fakeTerminal(log) }, (io) => {
      io.terminal?.listen(() => undefined);
      return forever(io);
    });
    end(set);
    expect(log.slice(0, 2)).toEqual(['raw true', 'raw false']);
    expect(exits).toEqual([code]);
  });

  it('restores it if the command has not', async () => {
    const { host, log, exits } = fakeProcess();
    await runProcess({ ...host, terminal: fakeTerminal(log) }, async (io) => {
      io.terminal?.listen(() => undefined);
      return 4;
    });
    expect([log, exits]).toEqual([['raw true', 'raw false'], [4]]);
  });
});

describe('runProcess', () => {
  it('passes arguments, environment and streams to the command, and exits with its code once all output is written', async () => {
    const { host, log, exits } = fakeProcess();
    await runProcess(host, async (io) => {
      expect(io).toMatchObject({ argv: ['version'], env: { A: 'b' }, nodeVersion: 'v24.0.0' });
      io.stdout('hello');
      io.stderr(await io.readFile('-'));
      return 3;
    });
    expect(log).toEqual(['out: hello', 'err: typed']);
    expect(exits).toEqual([3]);
  });

  it('shows progress on a terminal, in a line that the next text replaces', async () => {
    const { host, log } = fakeProcess();
    const clear = '\r\u001b[K';
    await runProcess({ ...host, isAttended: true }, async (io) => {
      for (const line of ['1 of 2', '2 of 2']) io.progress?.(line);
      for (const text of ['a', 'b']) io.stdout(text);
      io.progress?.('on');
      return 0;
    });
    const [shown, cleared] = [(line: string) => `err: ${clear}${line}`, `err: ${clear}`];
    expect(log).toEqual([shown('1 of 2'), shown('2 of 2'), cleared, 'out: a', 'out: b', shown('on'), cleared]);
    await runProcess({ ...host, isAttended: true, env: { TERM: 'dumb' } }, async ({ progress }) => {
      progress?.('never');
      return 0;
    });
    expect(log).toHaveLength(7);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ])('aborts on the first %s and exits at once on the second', async (name, code) => {
    const { host, exits, signals } = fakeProcess();
    let stop: AbortSignal | undefined;
    void runProcess(host, (io) => {
      stop = io.stopOnSignals();
      return new Promise(() => undefined);
    });
    expect(stop?.aborted).toBe(false);
    signals.get(name)!();
    expect(stop?.reason).toEqual(new Error(`received ${name}`));
    expect(exits).toEqual([]);
    signals.get(name)!();
    expect(exits).toEqual([code]);
  });

  it('counts different signals together', () => {
    const { host, exits, signals } = fakeProcess();
    void runProcess(host, forever);
    signals.get('SIGTERM')!();
    signals.get('SIGINT')!();
    expect(exits).toEqual([130]);
  });

  it('handles no signals unless the command requests it', async () => {
    const { host, signals } = fakeProcess();
    await runProcess(host, async () => 0);
    expect(signals.size).toBe(0);
  });

  it('ends silently, as by SIGPIPE, when the reader of its output closes it', () => {
    const { host, log, exits, failOutput } = fakeProcess();
    void runProcess(host, forever);
    failOutput('EPIPE');
    expect({ log, exits: new Set(exits) }).toEqual({ log: [], exits: new Set([141]) });
  });

  it('ends with a message when output fails for another reason', () => {
    const { host, log, exits, failOutput } = fakeProcess();
    void runProcess(host, forever);
    failOutput('ENOSPC');
    expect(log[0]).toBe('err: dwd: output failed: ENOSPC: failed, write\n');
    expect(exits[0]).toBe(1);
  });

  it.each(['uncaught exception', 'unhandled rejection'] as const)(
    'prints an %s with its stack and exits with 1',
    (what) => {
      const { host, log, exits, crash } = fakeProcess();
      void runProcess(host, forever);
      crash(what, new TypeError('oops'));
      expect(log.join('')).toMatch(new RegExp(`^err: dwd: ${what}: this is a bug: TypeError: oops\\n    at `));
      expect(exits).toEqual([1]);
    },
  );

  it('logs crashes to the logger that the command sets', () => {
    const { host, log, exits, crash } = fakeProcess();
    void runProcess(host, (io) => {
      io.reportCrashesTo(createLogger({ level: 'error', encoder: 'json', write: io.stderr, clock: { now: () => 0 } }));
      return forever(io);
    });
    crash('unhandled rejection', new Error('oops'));
    expect(log).toHaveLength(1);
    expect(JSON.parse(log[0]!.slice(5))).toMatchObject({
      level: 'error',
      msg: 'unhandled rejection: this is a bug',
      error: { message: 'oops', stack: expect.stringContaining('Error: oops') as string },
    });
    expect(exits).toEqual([1]);
  });

  it('reports a command that rejects as a bug', async () => {
    const { host, log, exits } = fakeProcess();
    await runProcess(host, async () => Promise.reject(new RangeError('oops')));
    expect(log[0]).toMatch(/^err: dwd: unexpected error: this is a bug: RangeError: oops\n/);
    expect(exits).toEqual([1]);
  });
});

describe('rule 31: output', () => {
  const hostile = 'a\u001b[2J\u009b\u202e\r\n\tb';
  const shown = 'a\\u001b[2J\\u009b\\u202e\\u000d\n\tb';

  it('rule 31: text from outside cannot drive the terminal', async () => {
    const { host, log } = fakeProcess();
    await runProcess(host, async (io) => {
      io.stdout(hostile);
      io.stderr(hostile);
      io.stdoutStyled('\u001b[31mred\u001b[39m');
      return 0;
    });
    expect(log).toEqual([`out: ${shown}`, `err: ${shown}`, 'out: \u001b[31mred\u001b[39m']);
  });

  it('rule 31: the message of a bug cannot drive the terminal', async () => {
    const { host, log } = fakeProcess();
    await runProcess(host, () => Promise.reject(Object.assign(new Error(hostile), { code: 'X' })));
    expect(log).toEqual([`err: dwd: unexpected error: this is a bug: ${shown}\n`]);
  });

  it.each(['json', 'console'] as const)('rule 31: a log line cannot drive the terminal (%s)', (encoder) => {
    const lines: string[] = [];
    const clock = { now: () => 0 };
    const logger = createLogger({ level: 'info', encoder, write: (line) => lines.push(line), clock });
    logger.info(hostile, { [hostile]: hostile, problem: new Error(hostile) });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^[^\p{Cc}\p{Bidi_Control}]+\n$/u);
  });
});
