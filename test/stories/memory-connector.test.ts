import { describe, expect, it } from 'vitest';
import { createMemoryConnector } from '../../simulator/harness/memory-connector.ts';
import { kubeconfigText } from '../../simulator/network/kubeconfig.ts';
import type { Call } from '../../src/kubernetes/api/call.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { type ScriptedKube, createScriptedKube } from '../doubles/scripted-kube.ts';

const version: Call<unknown> = { method: 'GET', path: '/version', decode: (json) => json };
const kubeconfig = kubeconfigText({ server: 'https://a.simulated', user: { token: 't' } });

const setup = () => {
  const kube = createScriptedKube();
  const connected: string[] = [];
  const connector = createMemoryConnector({
    clock: createVirtualClock(),
    resolve: (url) => (url === 'https://a.simulated' ? kube : undefined),
    onConnect: (url) => connected.push(url),
  });
  return { kube, connected, connection: connector.clientFor(kubeconfig) };
};

const { signal } = new AbortController();
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Outcome of a call after it has ended. */
const outcomeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'answered',
    (error: unknown) => (error as Error).message,
  );

type Finish = (kube: ScriptedKube) => void;

describe('a connection in memory', () => {
  it.each<readonly [string, Finish, string]>([
    ['got a response', (kube) => kube.take().respond(200, {}), 'answered'],
    ['got an error response', (kube) => kube.take().respond(500, 'no'), '500'],
    ['failed', (kube) => kube.take().fail(new Error('reset')), 'reset'],
    [
      'broke off in the body of its response',
      (kube) => {
        const stream = kube.take().stream();
        stream.send('{');
        stream.fail(new Error('broken'));
      },
      'broken',
    ],
  ])('does not abort a request that %s', async (_, finish, outcome) => {
    const { kube, connection } = setup();
    const call = outcomeOf(connection.client.call(version, { signal }));
    await turn();
    finish(kube);
    expect(await call).toContain(outcome);
    connection.close();
    expect(kube.requests.map((request) => request.signal.aborted)).toEqual([false]);
  });

  it('aborts pending requests when it is closed, whether the response has begun or not, and sends no others', async () => {
    const { kube, connection, connected } = setup();
    const calls = [1, 2, 3].map(() => outcomeOf(connection.client.call(version, { signal })));
    await turn();
    kube.take().respond(200, {});
    kube.take().stream().send('{');
    await turn();
    connection.close();
    const closed = expect.stringContaining('the connection was closed') as unknown;
    expect(await Promise.all(calls)).toEqual(['answered', closed, closed]);
    expect(kube.requests.map((request) => request.signal.aborted)).toEqual([false, true, true]);
    expect(kube.openBodies).toBe(0);
    expect(await outcomeOf(connection.client.call(version, { signal }))).toEqual(closed);
    expect([kube.requests.length, connected]).toEqual([3, ['https://a.simulated']]);
  });

  it('aborts a request when its caller aborts', async () => {
    const { kube, connection } = setup();
    const caller = new AbortController();
    const call = outcomeOf(connection.client.call(version, { signal: caller.signal }));
    await turn();
    kube.take().stream().send('{');
    await turn();
    caller.abort(new Error('enough'));
    expect(await call).toContain('enough');
    expect(kube.openBodies).toBe(0);
  });
});
