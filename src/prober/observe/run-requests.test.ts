import { beforeEach, describe, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { type ScriptedCall, type ScriptedClient, createScriptedClient } from '../../../test/doubles/scripted-client.ts';
import { listMachines } from '../../gardener/machine.ts';
import { getVersion } from '../../gardener/shoot-calls.ts';
import { ApiError, type ApiErrorCode, type ConnectionFault } from '../../kubernetes/api/errors.ts';
import { type RequestPace, RunRequests, type Sent } from './run-requests.ts';
import { createStaticStore } from '../testing/static-store.ts';

let clock: VirtualClock;
let seed: ScriptedClient;
/** Connections to the shoot, in the order in which they were opened. */
let connections: { readonly client: ScriptedClient; closed: boolean }[];
beforeEach(() => {
  clock = createVirtualClock();
  seed = createScriptedClient(clock);
  connections = [];
});

const start = (slowestResponseMs?: number, timeoutMs = 30_000): RunRequests =>
  new RunRequests(
    {
      clock,
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
      deadline: clock.monotonic() + timeoutMs,
      timeoutMs,
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

  it('goes out a second time after 5 s without an answer, and the first answer of the two counts', async () => {
    for (const winner of [0, 1]) {
      connections = [];
      const outcome = outcomeOf(start().shoot(getVersion));
      await clock.advance(4_999);
      expect(connections).toHaveLength(1);
      await clock.advance(1);
      expect(connections).toHaveLength(2);
      await clock.advance(3_000);
      connections[winner]!.client.waiting[0]!.answer({});
      await clock.settle();
      expect(outcome()).toMatchObject({ ok: true });
      expect(connections.map(({ closed }) => closed)).toEqual(winner === 0 ? [false, true] : [true, false]);
    }
  });

  it('has a third of the run, or all of a short one, and fails when the second has failed too', async () => {
    const outcome = outcomeOf(start().shoot(getVersion));
    expect(waiting().options.timeoutMs).toBe(10_000);
    void start(undefined, 3_000).shoot(getVersion);
    expect(waiting().options.timeoutMs).toBe(3_000);
    connections.pop();
    await clock.advance(5_000);
    connections[0]!.client.waiting[0]!.fail(new ApiError(late('waiting for the answer')));
    await clock.settle();
    expect(outcome()).toBeUndefined();
    connections[1]!.client.waiting[0]!.fail(new ApiError(status('ServerError', 500)));
    await clock.settle();
    expect(outcome()).toMatchObject({ ok: false, error: { code: 'ServerError' } });
  });

  it('is not repeated when the time of the run is up', async () => {
    const outcome = outcomeOf(start().shoot(getVersion));
    await clock.advance(30_000);
    for (const { client } of connections) client.waiting[0]!.fail(new ApiError(late('waiting for the answer')));
    await clock.settle();
    expect(outcome()).toMatchObject({ ok: false, error: { code: 'Timeout' } });
    expect(connections).toHaveLength(2);
  });
});

it('connections are shared by sequential requests, and separate for parallel ones', async () => {
  const asker = start();
  for (let count = 0; count < 2; count += 1) {
    void asker.shoot(getVersion);
    await answer();
  }
  expect(connections).toHaveLength(1);
  void asker.shoot(getVersion);
  void asker.shoot(getVersion);
  expect(connections.map(({ client }) => client.calls.length)).toEqual([3, 1]);
  asker.close();
  expect(connections.map(({ closed }) => closed)).toEqual([true, true]);
});

describe('the slowest response for the next run', () => {
  it('is the longest time of a response, successful or not', async () => {
    const asker = start();
    void asker.shoot(getVersion);
    await answer(300);
    void asker.shoot(getVersion);
    await fail(status('ServerError', 500), 2_500);
    await answer(100);
    expect(asker.slowestResponseMs()).toBe(2_500);
  });

  it.each([
    ['stays as it was if requests only hung', 'waiting for the answer', 9_000],
    ['is unknown if no connection was established', 'connecting', undefined],
  ] as const)('%s', async (_, phase, slowest) => {
    const asker = start(9_000);
    void asker.shoot(getVersion);
    await fail(late(phase), 4_000);
    await fail(broken('ETIMEDOUT', 'connecting'), 4_000);
    expect(asker.slowestResponseMs()).toBe(slowest);
  });
});

describe('a request to the seed', () => {
  const ask = (pace: RequestPace) => outcomeOf(start().seed(listMachines('shoot--a'), pace));
  const failSeed = async (error: ConstructorParameters<typeof ApiError>[0]): Promise<void> => {
    seed.waiting[0]!.fail(new ApiError(error));
    await clock.settle();
  };
  const limits = () => seed.calls.map(({ options: { priority, timeoutMs } }) => [priority, timeoutMs]);

  it('that fails is repeated once', async () => {
    const outcome = ask('ordinary');
    await failSeed(status('ServerError', 500));
    expect(limits()).toEqual([
      [undefined, 30_000],
      [undefined, 30_000],
    ]);
    await failSeed(status('ServerError', 503));
    expect(outcome()).toMatchObject({ ok: false, error: { status: 503 } });
  });

  it.each([
    ['ordinary', 30_000],
    ['spare', 1_000],
  ] as const)('that is %s waits for its turn for %i ms', async (pace, ms) => {
    const outcome = ask(pace);
    await failSeed({ code: 'Timeout', message: 'x' });
    expect(outcome()).toMatchObject({ ok: false, error: { code: 'Timeout' } });
    expect(limits()).toEqual([[undefined, ms]]);
  });
});
