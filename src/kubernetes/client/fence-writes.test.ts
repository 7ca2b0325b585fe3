import { describe, expect, it } from 'vitest';
import { transportTo } from '../../../test/doubles/transport.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { createRecordingMeter } from '../../../test/doubles/recording-meter.ts';
import { createScriptedKube } from '../../../test/doubles/scripted-kube.ts';
import { startTestServer } from '../../../test/doubles/test-server.ts';
import type { KubeRequest } from '../api/kube.ts';
import { fenceWrites } from './fence-writes.ts';
import { createRateLimiter, withRateLimit } from './rate-limit.ts';
import { retryOnReset } from './retry-on-reset.ts';
import { retryThrottled } from './retry-throttled.ts';
import { createSecurity } from '../transport/security.ts';

const { signal } = new AbortController();
const refused = { code: 'Rejected', message: 'PATCH /x: not sent: this process may not write it now' };
const patch: KubeRequest = { method: 'PATCH', path: '/x', signal, timeoutMs: 60_000, repeatable: true };
const meter = createRecordingMeter();

describe('rule 28: a write is sent only while this process leads', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)('rule 28: %s', async (method) => {
    const server = createScriptedKube();
    let leads = false;
    const kube = fenceWrites(server, { mayWrite: () => leads });
    await expect(kube.request({ ...patch, method })).rejects.toMatchObject({ code: 'Rejected', handling: 'give-up' });
    expect(server.requests).toHaveLength(0);
    leads = true;
    void kube.request({ ...patch, method });
    expect(server.requests).toHaveLength(1);
  });

  it('rule 28: reads need no leadership', async () => {
    const server = createScriptedKube();
    void fenceWrites(server, { mayWrite: () => false }).request({ ...patch, method: 'GET' });
    expect(server.requests).toHaveLength(1);
  });

  it('rule 28: it is refused if leadership was lost while it waited for the rate limit or a retry', async () => {
    const clock = createVirtualClock();
    const server = createScriptedKube();
    let leads = true;
    const limiter = createRateLimiter({ qps: 1, burst: 1, urgentInFlight: 1, clock, meter });
    const kube = retryThrottled(withRateLimit(fenceWrites(server, { mayWrite: () => leads }), limiter, clock), clock);
    const retried = kube.request(patch);
    const queued = kube.request(patch);
    const outcomes = Promise.allSettled([retried, queued]);
    await clock.settle();
    server.take().respond(429, '', { 'retry-after': '5' });
    await clock.advance(500);
    leads = false;
    await clock.advance(10_000);
    expect(await outcomes).toMatchObject([{ reason: { code: 'Rejected' } }, { reason: refused }]);
    expect(server.requests).toHaveLength(1);
  });

  it("rule 28: the caller's beforeSend is called only after all fences have passed the write", () => {
    const server = createScriptedKube();
    const heard: string[] = [];
    const mayWrite = (who: string) => () => heard.push(who) > 0;
    const kube = fenceWrites(fenceWrites(server, { mayWrite: mayWrite('inner') }), { mayWrite: mayWrite('outer') });
    void kube.request({ ...patch, beforeSend: () => void heard.push('sent') });
    expect(heard).toEqual(['outer', 'inner']);
    server.requests[0]?.beforeSend?.();
    expect(heard.slice(2)).toEqual(['inner', 'outer', 'sent']);
  });

  it("rule 28: the caller's beforeSend is not called if a fence refuses the write", () => {
    const server = createScriptedKube();
    let leads = true;
    let sent = 0;
    const kube = fenceWrites(server, { mayWrite: () => leads });
    void kube.request({ ...patch, beforeSend: () => (sent += 1) });
    leads = false;
    expect(() => server.requests[0]?.beforeSend?.()).toThrow('this process may not write it now');
    expect(sent).toBe(0);
  });
});

it('rule 28: a write that is refused when its connection is open was not sent, and the connection is closed', async () => {
  let leads = true;
  const bodies: string[] = [];
  const server = await startTestServer({
    handler: (request, response) => {
      request.on('data', (chunk: Buffer) => bodies.push(chunk.toString()));
      request.on('end', () => response.end('{}'));
    },
  });
  const security = createSecurity({});
  const transport = transportTo(server, {
    // Called while the request waits for its connection, as during a slow dial.
    security: async () => {
      leads = false;
      return security;
    },
  });
  const kube = retryOnReset(fenceWrites(transport, { mayWrite: () => leads }));
  await expect(kube.request({ ...patch, body: '{"a":1}' })).rejects.toMatchObject(refused);
  await server.idle();
  expect(server.stats()).toMatchObject({ requests: 0, connections: 1, openConnections: 0 });
  expect(bodies).toEqual([]);
  expect(await kube.request({ ...patch, method: 'GET' })).toMatchObject({ status: 200 });
});
