import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../telemetry/logger.ts';
import type { CliIo } from './io.ts';
import { type HostProcess, runProcess } from './run-process.ts';

interface Fake {
  readonly env?: Readonly<Record<string, string>>;
  readonly platform?: string;
  /** True if its streams are those of a terminal. */
  readonly isTTY?: boolean;
}

/** A fake process. Unlike the real one, its `exit` returns. */
const fakeProcess = ({ isTTY = false, ...given }: Fake = {}) => {
  const log: string[] = [];
  const exits: number[] = [];
  const output = (name: string) =>
    Object.assign(new EventEmitter(), {
      ...{ isTTY, writableLength: 0, columns: 80 },
      write: (text: string, done?: () => void) => {
        if (text !== '') log.push(`${name}: ${text}`);
        if (done !== undefined) queueMicrotask(done);
        return true;
      },
    });
  const [stdout, stderr] = [output('out'), output('err')];
  const stdin = Object.assign(Readable.from([Buffer.from('typed')]), { isTTY });
  const host = Object.assign(new EventEmitter(), {
    ...{ argv: ['node', 'dwd', 'version'], env: { A: 'b' }, version: 'v24.0.0', platform: 'linux', ...given },
    ...{ stdin, stdout, stderr, exit: (code: number) => exits.push(code) },
  });
  const run = (command: (io: CliIo) => Promise<number>): Promise<void> =>
    runProcess(host as unknown as HostProcess, (program, args) => void log.push([program, ...args].join(' ')), command);
  return { host, log, exits, run };
};

const forever = (io: CliIo): Promise<number> => new Promise(() => io.stopOnSignals());

it.each([
  ['linux', { DISPLAY: ':0' }, 'xdg-open http://127.0.0.1:1/'],
  ['linux', { WAYLAND_DISPLAY: 'w' }, 'xdg-open http://127.0.0.1:1/'],
  ['linux', {}, undefined],
  ['linux', { DISPLAY: ':0', SSH_CONNECTION: 'x' }, undefined],
  ['darwin', {}, 'open http://127.0.0.1:1/'],
  ['win32', {}, 'rundll32 url.dll,FileProtocolHandler http://127.0.0.1:1/'],
])(
  'runProcess on a desktop opens an address in the browser, if there is a terminal: %s %j',
  async (platform, env, started) => {
    for (const isTTY of [true, false]) {
      const { run, log } = fakeProcess({ platform, env, isTTY });
      await run(async (io) => {
        io.openInBrowser?.(new URL('http://127.0.0.1:1'));
        return 0;
      });
      expect(log).toEqual(isTTY && started !== undefined ? [started] : []);
    }
  },
);

it('runProcess in a terminal passes the terminal to the command, if there is one', async () => {
  for (const isTTY of [true, false]) {
    const { run, log } = fakeProcess({ isTTY });
    await run(async (io) => {
      expect(io.terminal?.columns).toBe(isTTY ? 80 : undefined);
      return 0;
    });
    expect(log).toEqual([]);
  }
});

describe('runProcess', () => {
  it('passes arguments, environment and streams to the command, and exits with its code once all output is written', async () => {
    const { run, log, exits } = fakeProcess();
    await run(async (io) => {
      expect(io).toMatchObject({ argv: ['version'], env: { A: 'b' }, nodeVersion: 'v24.0.0' });
      io.stdout('hello');
      io.stderr(await io.readFile('-'));
      return 3;
    });
    expect(log).toEqual(['out: hello', 'err: typed']);
    expect(exits).toEqual([3]);
  });

  it('shows progress on a terminal, in a line that the next text replaces', async () => {
    const { run, log } = fakeProcess({ isTTY: true });
    const clear = '\r\u001b[K';
    await run(async (io) => {
      for (const line of ['1 of 2', '2 of 2']) io.progress?.(line);
      for (const text of ['a', 'b']) io.stdout(text);
      io.progress?.('on');
      return 0;
    });
    const [shown, cleared] = [(line: string) => `err: ${clear}${line}`, `err: ${clear}`];
    expect(log).toEqual([shown('1 of 2'), shown('2 of 2'), cleared, 'out: a', 'out: b', shown('on'), cleared]);
    const dumb = fakeProcess({ isTTY: true, env: { TERM: 'dumb' } });
    await dumb.run(async ({ progress }) => {
      progress?.('never');
      return 0;
    });
    expect(dumb.log).toEqual([]);
  });

  it.each([
    ['SIGTERM', 'SIGTERM', 143],
    ['SIGINT', 'SIGINT', 130],
    ['SIGTERM', 'SIGHUP', 129],
  ])('aborts on the first signal, %s, and exits at once on the second, %s', async (first, second, code) => {
    const { host, run, exits } = fakeProcess();
    let stop: AbortSignal | undefined;
    void run((io) => {
      stop = io.stopOnSignals();
      return new Promise(() => undefined);
    });
    expect(stop?.aborted).toBe(false);
    host.emit(first);
    expect(stop?.reason).toEqual(new Error(`received ${first}`));
    expect(exits).toEqual([]);
    host.emit(second);
    expect(exits).toEqual([code]);
  });

  it('handles no signals unless the command requests it', async () => {
    const { host, run } = fakeProcess();
    await run(async () => 0);
    expect(host.eventNames()).toEqual(['uncaughtException', 'unhandledRejection']);
  });

  it.each([
    ['uncaught exception', 'uncaughtException'],
    ['unhandled rejection', 'unhandledRejection'],
  ])('prints an %s with its stack and exits with 1', (what, event) => {
    const { host, run, log, exits } = fakeProcess();
    void run(forever);
    host.emit(event, new TypeError('oops'));
    expect(log.join('')).toMatch(new RegExp(`^err: dwd: ${what}: this is a bug: TypeError: oops\\n    at `));
    expect(exits).toEqual([1]);
  });

  it('logs crashes to the logger that the command sets', () => {
    const { host, run, log, exits } = fakeProcess();
    void run((io) => {
      io.reportCrashesTo(createLogger({ level: 'error', encoder: 'json', write: io.stderr, clock: { now: () => 0 } }));
      return forever(io);
    });
    host.emit('unhandledRejection', new Error('oops'));
    expect(log).toHaveLength(1);
    expect(JSON.parse(log[0]!.slice(5))).toMatchObject({
      level: 'error',
      msg: 'unhandled rejection: this is a bug',
      error: { message: 'oops', stack: expect.stringContaining('Error: oops') as string },
    });
    expect(exits).toEqual([1]);
  });

  it('reports a command that rejects as a bug', async () => {
    const { run, log, exits } = fakeProcess();
    await run(async () => Promise.reject(new RangeError('oops')));
    expect(log[0]).toMatch(/^err: dwd: unexpected error: this is a bug: RangeError: oops\n/);
    expect(exits).toEqual([1]);
  });
});

describe('rule 31: output', () => {
  const hostile = 'a\u001b[2J\u009b\u202e\r\n\tb';
  const shown = 'a\\u001b[2J\\u009b\\u202e\\u000d\n\tb';

  it('rule 31: text from outside cannot drive the terminal', async () => {
    const { run, log } = fakeProcess();
    await run(async (io) => {
      io.stdout(hostile);
      io.stderr(hostile);
      io.stdoutStyled('\u001b[31mred\u001b[39m');
      return 0;
    });
    expect(log).toEqual([`out: ${shown}`, `err: ${shown}`, 'out: \u001b[31mred\u001b[39m']);
  });

  it('rule 31: the message of a bug cannot drive the terminal', async () => {
    const { run, log } = fakeProcess();
    await run(() => Promise.reject(Object.assign(new Error(hostile), { code: 'X' })));
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
