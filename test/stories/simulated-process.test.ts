import { beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { type SimApiServer, createSimApiServer } from '../../simulator/apiserver/server.ts';
import { SimulatedProcess } from '../../simulator/harness/simulated-process.ts';
import { type VirtualClock, createVirtualClock } from '../../simulator/time/clock.ts';
import { ApiError } from '../../src/kubernetes/api/errors.ts';
import type { Kube } from '../../src/kubernetes/api/kube.ts';

let clock: VirtualClock;
let server: SimApiServer;
let machine: SimulatedProcess;
let kube: Kube;
let heard: string[];
const { signal } = new AbortController();

beforeEach(() => {
  clock = createVirtualClock();
  server = createSimApiServer({ clock });
  machine = new SimulatedProcess(clock);
  kube = machine.connect(server);
  heard = [];
});

const hear = (what: string) => (): void => void heard.push(what);
const get = (path: string): Promise<void> => kube.request({ method: 'GET', path, signal }).then(hear(path));

const watchNamespaces = async (): Promise<void> => {
  const query = { watch: 'true' };
  const { body } = await kube.request({ method: 'GET', path: '/api/v1/namespaces', query, signal });
  for await (const _ of body) heard.push('event');
};

describe('a suspended process', () => {
  it('receives timers, sleeps, responses and signals in their original order when it is resumed', async () => {
    machine.suspend();
    machine.clock.timer(20, hear('timer'));
    machine.clock.sleep(10, signal).then(hear('sleep'), hear('woken up'));
    void get('/version');
    await clock.advance(15);
    machine.deliver(hear('signal'));
    await clock.advance(15);
    expect(heard).toEqual([]);
    await machine.resume(() => clock.settle());
    expect(heard).toEqual(['/version', 'sleep', 'signal', 'timer']);
  });
});

describe('a killed process', () => {
  it('fires no timer, receives nothing and sends nothing', async () => {
    machine.clock.timer(10, hear('timer'));
    void watchNamespaces();
    await clock.settle();
    const before = heard.length;
    machine.kill();
    void get('/version');
    machine.clock.timer(10, hear('late timer'));
    server.store.put(simKinds.Namespace, { metadata: { name: 'b' } });
    await clock.advance(1_000_000);
    expect(heard).toHaveLength(before);
    expect(clock.pending).toBe(0);
  });
});

describe('a simulated process', () => {
  it('has no timer and no request left when all requests have ended, in any way', async () => {
    const end = new AbortController();
    const failing = machine.connect({
      request: () => Promise.reject(new ApiError({ code: 'ConnectionError', message: 'reset' })),
    });
    const asked = [
      failing.request({ method: 'GET', path: '/version', signal }),
      kube.request({ method: 'GET', path: '/api/v1/namespaces', query: { watch: 'true' }, signal: end.signal }),
    ];
    const [failed, watch] = await Promise.allSettled(asked);
    expect(failed?.status).toBe('rejected');
    expect(machine.holds()).toEqual({ timers: 0, requests: 1 });
    if (watch?.status === 'fulfilled') await watch.value.body[Symbol.asyncIterator]().return?.();
    expect(machine.holds()).toEqual({ timers: 0, requests: 0 });
  });
});
