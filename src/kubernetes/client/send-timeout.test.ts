import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { outcomeOf } from '../../../test/doubles/outcome.ts';
import { type ScriptedKube, createScriptedKube } from '../../../test/doubles/scripted-kube.ts';
import type { Call } from '../api/call.ts';
import { ApiError } from '../api/errors.ts';
import type { CallOptions } from '../api/kube.ts';
import { createKubeClient } from './client.ts';

let clock: VirtualClock;
let server: ScriptedKube;
let caller: AbortController;
beforeEach(() => {
  clock = createVirtualClock();
  server = createScriptedKube();
  caller = new AbortController();
});

const patch: Call<unknown> = { method: 'PATCH', path: '/x', body: {}, decode: (json) => json };

/** Starts a call with 5 s for its response; `outcome()` is undefined until it is done. */
const send = async (options: Partial<CallOptions> = {}, sent = patch) => {
  const call = createKubeClient({ kube: server, clock }).call(sent, {
    ...{ signal: caller.signal, sentTimeoutMs: 5_000 },
    ...options,
  });
  const outcome = outcomeOf(call.then(({ value }) => ({ value })));
  await clock.settle();
  const exchange = server.take();
  return { outcome, exchange, leave: () => exchange.request.beforeSend?.() };
};

const late = { code: 'Timeout', message: 'no response within 5000 ms of being sent' };

const nothingIsLeft = (): void => {
  expect(clock.pending).toBe(0);
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
};

describe('a request with a timeout from its sending', () => {
  it('ends with the unchanged reason of its signal until it is sent', async () => {
    const { outcome } = await send();
    await clock.advance(60_000);
    expect(outcome()).toBeUndefined();
    const reason = { any: 'value' };
    caller.abort(reason);
    await clock.settle();
    expect(outcome()).toEqual({ error: reason });
    nothingIsLeft();
  });

  it('is awaited once it is sent, even if its signal aborts', async () => {
    const { outcome, exchange, leave } = await send();
    leave();
    caller.abort('no longer wanted');
    await clock.advance(4_999);
    expect(outcome()).toBeUndefined();
    exchange.respond(200, { done: true });
    await clock.settle();
    expect(outcome()).toEqual({ value: { done: true } });
    nothingIsLeft();
  });

  it('ends at once if its signal aborts, sent or not, if it only reads', async () => {
    const { outcome, leave } = await send({}, { ...patch, method: 'GET' });
    leave();
    caller.abort('no longer wanted');
    await clock.settle();
    expect(outcome()).toEqual({ error: 'no longer wanted' });
    nothingIsLeft();
  });

  it('has that time from its sending, not from the call', async () => {
    const { outcome, leave } = await send();
    await clock.advance(20_000);
    leave();
    await clock.advance(4_999);
    expect(outcome()).toBeUndefined();
    await clock.advance(1);
    expect(outcome()).toMatchObject({ error: late });
    nothingIsLeft();
  });

  it('has that time for the whole response', async () => {
    const { outcome, exchange, leave } = await send();
    leave();
    const stream = exchange.stream();
    for (const part of ['{', '"part"', ':', '"']) {
      stream.send(part);
      await clock.advance(1_250);
    }
    expect(outcome()).toMatchObject({ error: late });
    expect(server.openBodies).toBe(0);
    nothingIsLeft();
  });

  it('has that time once, even if it is sent again over another connection', async () => {
    const { outcome, leave } = await send();
    leave();
    await clock.advance(3_000);
    leave();
    await clock.advance(2_000);
    expect(outcome()).toMatchObject({ error: late });
    nothingIsLeft();
  });

  it('was not sent if its own beforeSend refuses it', async () => {
    const refusal = new ApiError({ code: 'Rejected', message: 'not sent: this process may not write it now' });
    const beforeSend = (): void => {
      throw refusal;
    };
    const { outcome, exchange, leave } = await send({ beforeSend });
    expect(leave).toThrow(refusal);
    expect(clock.pending).toBe(0);
    exchange.fail(refusal);
    await clock.settle();
    expect(outcome()).toEqual({ error: refusal });
    nothingIsLeft();
  });
});
