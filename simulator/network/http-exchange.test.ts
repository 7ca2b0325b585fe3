import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { send } from './http-exchange.ts';

/** A response that accepts every chunk and always reports a full buffer. */
const fullResponse = () => {
  const events = new EventEmitter();
  let written = 0;
  const response = Object.assign(events, {
    destroyed: false,
    writeHead: () => response,
    flushHeaders: () => undefined,
    end: () => undefined,
    write: () => {
      written += 1;
      setImmediate(() => events.emit('drain'));
      return false;
    },
  });
  return { response: response as unknown as ServerResponse, events, written: () => written };
};

it('leaves no listeners behind when a watch waits again and again for a slow client', async () => {
  const { response, events, written } = fullResponse();
  const { signal } = new AbortController();
  const request = { method: 'GET', path: '/api/v1/pods', query: { watch: 'true' }, signal } as const;
  const body = async function* () {
    for (let count = 0; count < 50; count += 1) yield Buffer.from('{}\n');
  };
  await send({ status: 200, headers: {}, body: body() }, { request, response, gate: () => Promise.resolve() });
  expect(written()).toBe(50);
  expect([events.listenerCount('close'), events.listenerCount('drain')]).toEqual([0, 0]);
});
