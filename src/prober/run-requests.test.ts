import { beforeEach, describe, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../simulator/time/clock.ts';
import { type ScriptedCall, type ScriptedClient, createScriptedClient } from '../../test/doubles/scripted-client.ts';
import { SimulatedProcess } from '../../simulator/harness/simulated-process.ts';
import { listMachines } from '../gardener/machine.ts';
import { getVersion } from '../gardener/shoot-calls.ts';
import { ApiError, type ApiErrorCode, type ConnectionFault } from '../kubernetes/api/errors.ts';
import type { Clock } from '../ports/clock.ts';
import { RunRequests, type Sent } from './run-requests.ts';
import { createStaticStore } from './testing/static-store.ts';

let clock: VirtualClock;
let seed: ScriptedClient;
/** Connections to the shoot, in the order in which they were opened. */
let connections: { readonly client: ScriptedClient; closed: boolean }[];
beforeEach(() => {
  clock = createVirtualClock();
  seed = createScriptedClient(clock);
  connections = [];
});

const start = (slowestResponseMs?: number, own: Clock = clock): RunRequests =>
  new RunRequests(
    {
      clock: own,
      seed,
      connector: {
        clientFor: () => {
          const connection = { client: createScriptedClient(clock), closed: false };
          connections.push(connection);
          return {
            client: connection.client,
            close: () => {
              connection.closed = true;
            },
          };
        },
      },
      kubeconfigs: createStaticStore(() => 'a kubeconfig'),
    },
    {
      secret: 'shoot--a/probe',
      deadline: clock.monotonic() + 30_000,
      slowestResponseMs,
      signal: new AbortController().signal,
    },
  );

/** Returns undefined while the request is in progress. */
const outcomeOf = <T>(sent: Promise<Sent<T>>): (() => Sent<T> | undefined) => {
  let outcome: Sent<T> | undefined;
  void sent.then((settled) => {
    outcome = settled;
  });
  return () => outcome;
};

/** The only call that waits on the latest connection. */
const waiting = (): ScriptedCall => {
  const calls = connections.at(-1)!.client.waiting;
  expect(calls).toHaveLength(1);
  return calls[0]!;
};

const answer = async (afterMs = 0): Promise<void> => {
  await clock.advance(afterMs);
  waiting().answer({});
  await clock.settle();
};

const fail = async (error: ConstructorParameters<typeof ApiError>[0], afterMs = 0): Promise<void> => {
  await clock.advance(afterMs);
  waiting().fail(new ApiError(error));
  await clock.settle();
};

const broken = (code: string, phase: ConnectionFault['phase']) =>
  ({ code: 'ConnectionError', message: code, cause: { code, phase } }) as const;
const late = (phase: ConnectionFault['phase']) =>
  ({ code: 'Timeout', message: 'late', cause: { code: 'ETIMEDOUT', phase } }) as const;
const status = (code: ApiErrorCode, number: number) => ({ code, message: 'x', status: number });

describe('a request to the shoot', () => {
  it.each([
    ['500', status('ServerError', 500)],
    ['a reset while connecting', broken('ECONNRESET', 'connecting')],
    ['a reset in place of a response', broken('ECONNRESET', 'waiting for the answer')],
    ['a response that breaks off', broken('ECONNRESET', 'reading the answer')],
    ['no connection in time', broken('ETIMEDOUT', 'connecting')],
    ['no response in time', late('waiting for the answer')],
    ['no handshake in time', late('connecting')],
  ] as const)('that fails with %s is repeated once, at once, on a new connection', async (_, error) => {
    const outcome = outcomeOf(start().shoot(getVersion));
    await fail(error);
    expect(connections.map(({ closed }) => closed)).toEqual([true, false]);
    expect(outcome()).toBeUndefined();
    await fail(error);
    expect(outcome()).toMatchObject({ ok: false, error });
    expect(connections).toHaveLength(2);
  });

  it.each([
    ['429', status('TooManyRequests', 429)],
    ['401', status('Unauthorized', 401)],
    ['403', status('Forbidden', 403)],
    ['404', status('NotFound', 404)],
    ['a malformed response', status('MalformedResponse', 200)],
    ['a refused connection', broken('ECONNREFUSED', 'connecting')],
    ['an unknown DNS name', broken('ENOTFOUND', 'connecting')],
    ['an expired certificate', broken('CERT_HAS_EXPIRED', 'connecting')],
  ] as const)('that fails with %s is not repeated', async (_, error) => {
    const outcome = outcomeOf(start().shoot(getVersion));
    await fail(error);
    expect(outcome()).toMatchObject({ ok: false, error });
    expect(connections).toHaveLength(1);
  });

  it('has a timeout of 5 s, and when it is repeated the rest of the run', async () => {
    start()
      .shoot(getVersion)
      .catch(() => undefined);
    expect(waiting().options.timeoutMs).toBe(5_000);
    await fail(late('waiting for the answer'), 5_000);
    expect(waiting().options.timeoutMs).toBe(25_000);
  });

  it('has a timeout of twice the slowest response, of the last run or of this one', async () => {
    const asker = start(9_000);
    void asker.shoot(getVersion);
    expect(waiting().options.timeoutMs).toBe(18_000);
    await answer(9_500);
    void asker.shoot(getVersion);
    expect(waiting().options.timeoutMs).toBe(19_000);
    await answer(9_500);
    void asker.shoot(getVersion);
    expect(waiting().options.timeoutMs).toBe(11_000);
  });

  it('is not repeated when the time of the run is up', async () => {
    const outcome = outcomeOf(start(20_000).shoot(getVersion));
    await fail(late('waiting for the answer'), 30_000);
    expect(outcome()).toMatchObject({ ok: false, error: { code: 'Timeout' } });
    expect(connections).toHaveLength(1);
  });
});

describe('connections', () => {
  it('are shared by sequential requests, and separate for parallel ones', async () => {
    const asker = start();
    void asker.shoot(getVersion);
    await answer();
    void asker.shoot(getVersion);
    await answer();
    expect(connections).toHaveLength(1);
    void asker.shoot(getVersion);
    void asker.shoot(getVersion);
    expect(connections.map(({ client }) => client.calls.length)).toEqual([3, 1]);
    asker.close();
    expect(connections.map(({ closed }) => closed)).toEqual([true, true]);
  });
});

describe('the slowest response for the next run', () => {
  const learn = async (act: (asker: RunRequests) => Promise<void>, before?: number): Promise<number | undefined> => {
    const asker = start(before);
    await act(asker);
    return asker.slowestResponseMs();
  };

  it('is the longest time of a response, successful or not', async () => {
    const slowest = await learn(async (asker) => {
      void asker.shoot(getVersion);
      await answer(300);
      void asker.shoot(getVersion);
      await fail(status('ServerError', 500), 2_500);
      await answer(100);
    });
    expect(slowest).toBe(2_500);
  });

  it('stays as it was if requests only hung', async () => {
    const hang = async (asker: RunRequests): Promise<void> => {
      void asker.shoot(getVersion);
      await fail(late('waiting for the answer'), 5_000);
    };
    expect(await learn(hang, 9_000)).toBe(9_000);
    connections = [];
    expect(await learn(hang)).toBeUndefined();
  });

  it('is unknown if no connection was established', async () => {
    const slowest = await learn(async (asker) => {
      void asker.shoot(getVersion);
      await fail(late('connecting'), 5_000);
      await fail(broken('ETIMEDOUT', 'connecting'), 10_000);
    }, 9_000);
    expect(slowest).toBeUndefined();
  });
});

describe('the slowest response while our own process was suspended', () => {
  it('does not include that time', async () => {
    const process = new SimulatedProcess(clock);
    const requests = start(0, process.clock);
    void requests.shoot(getVersion);
    process.suspend();
    await clock.advance(4_000);
    await process.resume();
    await answer(100);
    expect(requests.slowestResponseMs()).toBeLessThan(500);
  });
});

describe('an API server that takes 2 s longer than recently', () => {
  it.each([
    { afterMs: 1_999, usualMs: 0, stalled: undefined },
    { afterMs: 2_000, usualMs: 0, stalled: 2_000 },
    { afterMs: 2_000, usualMs: 1, stalled: undefined },
  ])('has stalled: $afterMs ms after $usualMs', async ({ afterMs, usualMs, stalled }) => {
    const requests = start(usualMs);
    void requests.shoot(getVersion);
    await answer(afterMs);
    expect(requests.stalledUntil()).toBe(stalled);
  });

  it.each([
    { suspendedMs: 4_000, stalled: undefined },
    { suspendedMs: 2_000, stalled: 4_100 },
  ])('has not stalled while we were suspended: $suspendedMs of 4100 ms', async ({ suspendedMs, stalled }) => {
    const process = new SimulatedProcess(clock);
    const requests = start(0, process.clock);
    void requests.shoot(getVersion);
    process.suspend();
    await clock.advance(suspendedMs);
    await process.resume();
    await answer(4_100 - suspendedMs);
    expect(requests.stalledUntil()).toBe(stalled);
  });
});

describe('a request to the seed', () => {
  const ask = (urgent: boolean) => outcomeOf(start().seed(listMachines('shoot--a'), urgent));
  const failSeed = async (error: ConstructorParameters<typeof ApiError>[0]): Promise<void> => {
    seed.waiting[0]!.fail(new ApiError(error));
    await clock.settle();
  };
  const limits = () => seed.calls.map(({ options: { priority, timeoutMs } }) => [priority, timeoutMs]);

  it('that fails is repeated once', async () => {
    const outcome = ask(false);
    await failSeed(status('ServerError', 500));
    expect(limits()).toEqual([
      [undefined, 30_000],
      [undefined, 30_000],
    ]);
    await failSeed(status('ServerError', 503));
    expect(outcome()).toMatchObject({ ok: false, error: { status: 503 } });
  });

  it('that is not urgent waits for its turn as long as the run lasts', async () => {
    const outcome = ask(false);
    await failSeed({ code: 'Timeout', message: 'x' });
    expect(outcome()).toMatchObject({ ok: false, error: { code: 'Timeout' } });
  });
});
