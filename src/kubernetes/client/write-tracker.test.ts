import { expect, it } from 'vitest';
import { createScriptedKube } from '../../../test/doubles/scripted-kube.ts';
import { WriteTracker } from './write-tracker.ts';

const { signal } = new AbortController();

const begin = () => {
  const server = createScriptedKube();
  const writes = new WriteTracker();
  return { server, writes, tracked: writes.track(server) };
};

const hasEnded = async (ended: Promise<void>): Promise<boolean> => {
  let result = false;
  void ended.then(() => (result = true));
  await new Promise((resolve) => setImmediate(resolve));
  return result;
};

it.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)(
  'waits for each %s, answered or failed, also for one that began while it waited',
  async (method) => {
    const { server, writes, tracked } = begin();
    void tracked.request({ method, path: '/', signal });
    const ended = writes.ended();
    const second = tracked.request({ method, path: '/', signal });
    server.take().respond(200, '');
    expect(await hasEnded(ended)).toBe(false);
    server.take().fail(new Error('reset'));
    await expect(second).rejects.toThrow('reset');
    expect(await hasEnded(ended)).toBe(true);
  },
);

it('aborts writes and no reads', async () => {
  const { server, writes, tracked } = begin();
  const own = new AbortController();
  void tracked.request({ method: 'GET', path: '/', signal });
  const write = tracked.request({ method: 'PATCH', path: '/', signal });
  const unwanted = tracked.request({ method: 'PATCH', path: '/', signal: own.signal });
  own.abort('no longer wanted');
  await expect(unwanted).rejects.toBe('no longer wanted');
  expect(server.waiting).toBe(2);
  writes.abort('leadership is lost');
  await expect(write).rejects.toMatchObject({ code: 'ConnectionError', message: 'given up: leadership is lost' });
  expect(server.take().request.method).toBe('GET');
});
