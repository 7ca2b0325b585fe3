import { describe, expect, it } from 'vitest';
import type { Kube, KubeRequest } from '../../src/kubernetes/api/kube.ts';
import { simKinds } from '../apiserver/kinds.ts';
import { createSimApiServer } from '../apiserver/server.ts';
import { createVirtualClock } from '../time/clock.ts';
import { requestKind, withCounting } from './counting.ts';
import { type RequestFault, withFaults } from './faults.ts';

const never = new AbortController().signal;
const path = '/api/v1/namespaces/default/configmaps';
const write = { method: 'POST', path, body: JSON.stringify({ metadata: { name: 'a' } }), signal: never } as const;

const setup = (fault: RequestFault | undefined) => {
  const clock = createVirtualClock();
  const server = createSimApiServer({ clock });
  const kube = withFaults(server, { clock, rule: () => fault });
  const exists = (): boolean => server.store.get(simKinds.ConfigMap, { namespace: 'default', name: 'a' }) !== undefined;
  return { clock, server, kube, exists };
};

const read = async (kube: Kube, request: KubeRequest): Promise<{ status: number; headers: unknown; text: string }> => {
  const { status, headers, body } = await kube.request(request);
  let text = '';
  for await (const chunk of body) text += Buffer.from(chunk).toString();
  return { status, headers, text };
};

describe('faults', () => {
  it('status: the client gets a Status, and the server never sees the request', async () => {
    const { kube, exists } = setup({ status: 429, retryAfter: 7 });
    const reply = await read(kube, write);
    expect(reply).toMatchObject({ status: 429, headers: { 'retry-after': '7' } });
    expect(JSON.parse(reply.text)).toMatchObject({
      kind: 'Status',
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 7 },
    });
    expect(exists()).toBe(false);
  });

  it.each<[RequestFault, isWritten: boolean]>([
    ['reset', false],
    [{ afterWrite: 'reset' }, true],
  ])('%j: the request fails with a ConnectionError, and has written: %s', async (fault, isWritten) => {
    const { kube, exists } = setup(fault);
    await expect(kube.request(write)).rejects.toMatchObject({ code: 'ConnectionError' });
    expect(exists()).toBe(isWritten);
  });

  it('afterWrite drop: the request fails with a Timeout after the write', async () => {
    const { clock, kube, exists } = setup({ afterWrite: 'drop' });
    await expect(clock.run(kube.request({ ...write, timeoutMs: 500 }))).rejects.toMatchObject({ code: 'Timeout' });
    expect([exists(), clock.pending]).toEqual([true, 0]);
  });

  it('drop: no response arrives until the deadline or the abort', async () => {
    const { clock, kube, exists } = setup('drop');
    await expect(clock.run(kube.request({ ...write, timeoutMs: 500 }))).rejects.toMatchObject({ code: 'Timeout' });
    expect(clock.monotonic()).toBe(500);
    const controller = new AbortController();
    const request = kube.request({ ...write, signal: controller.signal });
    clock.timer(100, () => controller.abort(new Error('enough')));
    await expect(clock.run(request)).rejects.toThrow('enough');
    expect([exists(), clock.monotonic(), clock.pending]).toEqual([false, 600, 0]);
  });

  it('delay: the server sees the request later, if the deadline allows', async () => {
    const { clock, kube, exists } = setup({ delayMs: 300 });
    await expect(clock.run(kube.request({ ...write, timeoutMs: 200 }))).rejects.toMatchObject({ code: 'Timeout' });
    expect(exists()).toBe(false);
    expect((await clock.run(kube.request({ ...write, timeoutMs: 400 }))).status).toBe(201);
    expect(clock.monotonic()).toBe(500);
    expect(clock.pending).toBe(0);
  });

  it('delay, then another fault: the deadline covers both', async () => {
    const { clock, kube } = setup({ delayMs: 300, then: 'drop' });
    await expect(clock.run(kube.request({ ...write, timeoutMs: 1_000 }))).rejects.toMatchObject({ code: 'Timeout' });
    expect(clock.monotonic()).toBe(1_000);
  });

  it('a request that was aborted before fails at once', async () => {
    const { kube } = setup('drop');
    await expect(kube.request({ ...write, signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  });
});

describe('counting', () => {
  const named: readonly {
    readonly method: KubeRequest['method'];
    readonly path: string;
    readonly kind: string;
  }[] = [
    { method: 'PUT', path: '/api/v1/namespaces/a/finalize', kind: 'update namespaces/finalize' },
    { method: 'PATCH', path: '/api/v1/namespaces/a/pods/b/status', kind: 'patch pods/status' },
    { method: 'DELETE', path: '/api/v1/namespaces/a/pods', kind: 'deletecollection pods' },
    { method: 'GET', path: '/api/v1/namespaces/scale/configmaps/status', kind: 'get configmaps' },
  ];

  it.each(named)('$method $path is $kind', ({ kind, ...request }) => {
    const { verb, resource } = requestKind(request);
    expect(`${verb} ${resource}`).toBe(kind);
  });

  it('counts each request when it is made, even if it fails', async () => {
    const { kube } = setup('reset');
    const counting = withCounting(kube);
    await expect(counting.request(write)).rejects.toThrow();
    await expect(counting.request({ ...write, method: 'GET' })).rejects.toThrow();
    expect([...counting.counts.byKey]).toEqual([
      ['create configmaps', 1],
      ['list configmaps', 1],
    ]);
    expect(counting.counts.total()).toBe(2);
    expect(counting.counts.total({ verb: 'create' })).toBe(1);
    expect(counting.counts.total({ resource: 'pods' })).toBe(0);
    counting.counts.reset();
    expect(counting.counts.total()).toBe(0);
  });
});
