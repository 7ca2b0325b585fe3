import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { type Runnable, runLifecycle, whenAborted } from './lifecycle.ts';

interface Script {
  /** Milliseconds until it calls `ready`. Default: 0. */
  readonly readyAfter?: number | 'never';
  /** Milliseconds from the abort to the end; with `never` it hangs. Default: 0. */
  readonly stopsAfter?: number | 'never';
  /** Milliseconds from the start to the failure with `error`, or to the end without one. */
  readonly endsAfter?: number;
  readonly error?: unknown;
  /** Returns the error that it rejects with after the abort. */
  readonly stopError?: (reason: unknown) => unknown;
}

const setup = () => {
  const clock = createVirtualClock();
  const logger = createRecordingLogger();
  const stop = new AbortController();
  const events: string[] = [];
  const never = new AbortController().signal;

  const runnable = (name: string, script: Script = {}): Runnable => ({
    name,
    async run(signal, ready) {
      events.push(`${name} starts`);
      const { readyAfter = 0, stopsAfter = 0 } = script;
      if (readyAfter !== 'never') {
        clock.timer(readyAfter, () => {
          if (signal.aborted) return;
          events.push(`${name} ready`);
          ready();
        });
      }
      const own = script.endsAfter === undefined ? whenAborted(never) : clock.sleep(script.endsAfter, never);
      await Promise.race([whenAborted(signal), own]);
      if (!signal.aborted && 'error' in script) throw script.error;
      if (!signal.aborted) return;
      events.push(`${name} told to stop`);
      await (stopsAfter === 'never' ? whenAborted(never) : clock.sleep(stopsAfter, never));
      if (script.stopError !== undefined) throw script.stopError(signal.reason);
      events.push(`${name} stopped`);
    },
  });

  const run = (groups: readonly (readonly Runnable[])[]) => {
    const state: { code: number | undefined } = { code: undefined };
    const done = runLifecycle({ groups, stop: stop.signal, clock, logger }).then((code) => {
      state.code = code;
    });
    return { state, done };
  };
  return { clock, logger, stop, events, runnable, run };
};

it('starts in order, each group when the one before is ready, and stops in reverse', async () => {
  const { clock, stop, events, runnable, run } = setup();
  const { state } = run([
    [runnable('servers')],
    [runnable('cache a', { readyAfter: 100, stopsAfter: 10 }), runnable('cache b', { readyAfter: 50 })],
    [runnable('controllers', { stopsAfter: 300 })],
  ]);
  await clock.advance(99);
  expect(events).toEqual(['servers starts', 'servers ready', 'cache a starts', 'cache b starts', 'cache b ready']);
  await clock.advance(1_000);
  expect(events.slice(5)).toEqual(['cache a ready', 'controllers starts', 'controllers ready']);
  expect(state.code).toBeUndefined();

  stop.abort(new Error('received SIGTERM'));
  await clock.advance(299);
  expect(events.slice(8)).toEqual(['controllers told to stop']);
  await clock.advance(100);
  expect(events.slice(9)).toEqual([
    'controllers stopped',
    'cache a told to stop',
    'cache b told to stop',
    'cache b stopped',
    'cache a stopped',
    'servers told to stop',
    'servers stopped',
  ]);
  expect(state.code).toBe(0);
});

it('stops while a group is not ready yet, and starts no other', async () => {
  const { clock, stop, events, runnable, run } = setup();
  const { state } = run([
    [runnable('servers')],
    [runnable('caches', { readyAfter: 'never' })],
    [runnable('controllers')],
  ]);
  await clock.advance(60_000);
  expect(events.at(-1)).toBe('caches starts');
  stop.abort(new Error('received SIGTERM'));
  await clock.advance(10);
  expect(events).not.toContain('controllers starts');
  expect(events.slice(-4)).toEqual([
    'caches told to stop',
    'caches stopped',
    'servers told to stop',
    'servers stopped',
  ]);
  expect(state.code).toBe(0);
});

it.each([
  ['rejects', { endsAfter: 500, error: new Error('boom') }, 'boom'],
  ['rejects before it is ready', { endsAfter: 500, error: new Error('boom'), readyAfter: 'never' }, 'boom'],
  ['ends on its own', { endsAfter: 500 }, 'ended although nobody stopped it'],
] as const)('stops all and returns 1 when a runnable %s', async (_how, script, message) => {
  const { clock, logger, events, runnable, run } = setup();
  const { state } = run([[runnable('servers')], [runnable('caches', script), runnable('other')]]);
  await clock.advance(499);
  expect(state.code).toBeUndefined();
  await clock.advance(10);
  expect(events.slice(-4)).toEqual(['other told to stop', 'other stopped', 'servers told to stop', 'servers stopped']);
  expect(state.code).toBe(1);
  expect(logger.lines[0]).toMatchObject({ level: 'error', message: 'caches failed', fields: { runnable: 'caches' } });
  expect(String(logger.lines[0]!.fields.error)).toBe(`Error: ${message}`);
});

it.each<[what: string, stopError: Script['stopError'], code: number, errors: readonly string[]]>([
  ['returns 0 for a rejection with the reason of the abort', (reason) => reason, 0, []],
  ['returns 1 for another one', () => new Error('lost'), 1, ['a failed']],
])('%s, and stops the others', async (_what, stopError, code, errors) => {
  const { clock, logger, stop, events, runnable, run } = setup();
  const { state } = run([[runnable('servers')], [runnable('a', { stopError })]]);
  await clock.advance(1);
  stop.abort(new Error('received SIGTERM'));
  await clock.advance(10);
  expect([state.code, logger.at('error')]).toEqual([code, errors]);
  expect(events.at(-1)).toBe('servers stopped');
});

it('gives up on a runnable that does not stop, and reserves time for the others', async () => {
  const { clock, logger, stop, events, runnable, run } = setup();
  const { state } = run([
    [runnable('servers', { stopsAfter: 150 })],
    [runnable('lease', { stopsAfter: 150 })],
    [runnable('hangs', { stopsAfter: 'never' }), runnable('works')],
  ]);
  await clock.advance(1);
  stop.abort(new Error('received SIGTERM'));
  await clock.advance(2_499);
  expect(state.code).toBe(0);
  expect(events.filter((event) => event.endsWith(' stopped'))).toEqual([
    'works stopped',
    'lease stopped',
    'servers stopped',
  ]);
  expect(logger.lines.filter(({ level }) => level === 'error')).toMatchObject([{ fields: { runnables: ['hangs'] } }]);
});

it('always ends before its timeout, with the right exit code', async () => {
  const time = fc.integer({ min: 0, max: 5_000 });
  const script = fc.record(
    {
      readyAfter: fc.oneof(time, fc.constant('never' as const)),
      stopsAfter: fc.oneof(time, fc.constant('never' as const)),
    },
    { requiredKeys: [] },
  );
  const groups = fc.array(fc.array(script, { maxLength: 3 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(groups, time, async (scripts, stopAt) => {
      const { clock, stop, events, runnable, run } = setup();
      const { state } = run(scripts.map((group, g) => group.map((one, r) => runnable(`${g}.${r}`, one))));
      await clock.advance(stopAt);
      expect(state.code).toBeUndefined();
      stop.abort(new Error('received SIGTERM'));
      await clock.advance(2_500);
      expect(state.code).toBe(0);
      const started = events.filter((event) => event.endsWith('starts'));
      expect(events.filter((event) => event.endsWith('told to stop'))).toHaveLength(started.length);
    }),
  );
});
