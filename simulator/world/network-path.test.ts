import { describe, expect, it } from 'vitest';
import type { KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import { simKinds } from '../apiserver/kinds.ts';
import { type VirtualClock, createVirtualClock } from '../time/clock.ts';
import type { WorldServer } from './endpoint.ts';
import { createWorld } from './world.ts';

const setUp = (): { clock: VirtualClock; api: WorldServer; send: typeof send } => {
  const clock = createVirtualClock();
  const { api } = createWorld({ clock, shoots: [] });
  const send = (request: Partial<KubeRequest> = {}): Promise<KubeResponse> =>
    api.kube.request({
      method: 'GET',
      path: '/api/v1/namespaces',
      headers: { authorization: `Bearer ${/token: "(.*)"/.exec(api.kubeconfig())?.[1] ?? ''}` },
      signal: new AbortController().signal,
      ...request,
    });
  return { clock, api, send };
};

describe('the path to an API server', () => {
  it('sends nothing while it is silent, neither to new requests nor on open watches, and resets both afterwards', async () => {
    const { clock, api, send } = setUp();
    const chunks = (await send({ query: { watch: 'true' } })).body[Symbol.asyncIterator]();
    for (let event = 0; event < 4; event += 1) await chunks.next();
    api.setReachability('silent');
    const timeout = expect(send({ timeoutMs: 3_000 })).rejects.toMatchObject({ code: 'Timeout' });
    let answered = 0;
    const hanging = send().finally(() => (answered += 1));
    const event = chunks.next().finally(() => (answered += 1));
    const failures = Promise.all([
      expect(hanging).rejects.toMatchObject({ code: 'ConnectionError' }),
      expect(event).rejects.toMatchObject({ code: 'ConnectionError' }),
    ]);
    api.server.store.put(simKinds.Namespace, { metadata: { name: 'unheard' } });
    await clock.advance(3_000);
    await timeout;
    expect(answered).toBe(0);
    api.setReachability('open');
    await failures;
  });

  it('rejects an aborted request with its reason, even while it is silent', async () => {
    const { clock, api, send } = setUp();
    const reason = new Error('enough');
    const controller = new AbortController();
    api.setReachability('silent');
    const hanging = expect(send({ signal: controller.signal })).rejects.toBe(reason);
    await clock.advance(1_000);
    controller.abort(reason);
    await hanging;
  });
});
