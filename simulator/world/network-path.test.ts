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

const read = async (response: KubeResponse): Promise<string> => {
  let text = '';
  for await (const chunk of response.body) text += Buffer.from(chunk).toString();
  return text;
};

const watch: Partial<KubeRequest> = { query: { watch: 'true' } };

describe('the path to an API server', () => {
  it('accepts only the token of the latest kubeconfig', async () => {
    const { api, send } = setUp();
    expect(await read(await send())).toContain('kube-system');
    expect((await send({ headers: {} })).status).toBe(401);
    const old = api.kubeconfig();
    api.rotateToken();
    expect(api.kubeconfig()).not.toBe(old);
    const token = /token: "(.*)"/.exec(old)?.[1] ?? '';
    const refused = await send({ headers: { Authorization: `Bearer ${token}` } });
    expect(refused.status).toBe(401);
    expect(JSON.parse(await read(refused))).toMatchObject({ kind: 'Status', code: 401 });
    expect((await send()).status).toBe(200);
  });

  it('refuses connections and resets open requests', async () => {
    const { api, send } = setUp();
    const open = await send(watch);
    const rest = read(open);
    api.setReachability('refused');
    await expect(rest).rejects.toMatchObject({ code: 'ConnectionError' });
    await expect(send()).rejects.toMatchObject({ code: 'ConnectionError' });
    api.setReachability('open');
    expect((await send()).status).toBe(200);
  });

  it('sends nothing while it is silent, neither to new requests nor on open watches, and resets both afterwards', async () => {
    const { clock, api, send } = setUp();
    const chunks = (await send(watch)).body[Symbol.asyncIterator]();
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
