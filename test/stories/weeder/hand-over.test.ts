import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WeederBench, createWeederBench } from '../../../simulator/harness/weeder/bench.ts';
import { beginWithoutEtcd, etcd, ns } from '../../../simulator/harness/weeder/support.ts';

const pod = (name: string, owner = 'api') => ({ namespace: ns, name, owner });

let bench: WeederBench;
beforeEach(() => {
  bench = createWeederBench();
});
afterEach(() => bench.stop());

const begin = async (): Promise<void> => {
  await beginWithoutEtcd(bench);
  bench.kubelet.crash(pod('api-0'));
  bench.kubelet.endpoints(etcd, true);
  await bench.clock.advance(1_000);
};

const running = async (): Promise<string | undefined> =>
  /dwd_weeder_weedings\{service="etcd-main-client"\} (\d+)/.exec(await bench.meter().metricsText())?.[1];

describe('a change of the configuration', () => {
  it('keeps the back-off of owners, even twice and without a weeding', async () => {
    await begin();
    bench.kubelet.endpoints(etcd, false);
    await bench.clock.advance(500);
    bench.kubelet.crash(pod('api-1'));
    for (const watchDurationMs of [100_000, 200_000]) {
      bench.reload({ watchDurationMs });
      await bench.clock.advance(1_000);
    }
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(20_000);
    expect(bench.kubelet.deleted).toEqual([`${ns}/api-0 at 10.0`, `${ns}/api-1 at 20.0`]);
  });

  it('does not shorten the wait of a Retry-After', async () => {
    bench.line.setFaults(({ method }) => (method === 'DELETE' ? { status: 429, retryAfter: 40 } : undefined));
    await begin();
    bench.reload({ watchDurationMs: 100_000 });
    await bench.clock.advance(30_000);
    expect(bench.line.requests.total({ verb: 'delete' })).toBe(1);
    await bench.clock.advance(15_000);
    expect(bench.line.requests.total({ verb: 'delete' })).toBe(2);
  });

  it('ends the weeding of a removed service while a delete is in flight', async () => {
    bench.line.setFaults(({ method }) => (method === 'DELETE' ? { delayMs: 3_000 } : undefined));
    await begin();
    bench.reload({ watchDurationMs: 100_000 });
    await bench.clock.advance(1_000);
    bench.kubelet.removeEndpoints(etcd);
    await bench.clock.advance(5_000);
    expect(bench.told('weeding ends')).toMatchObject([{ why: 'not-ready', deleted: 1 }]);
  });

  it('counts running weedings once', async () => {
    await begin();
    expect(await running()).toBe('1');
    bench.reload({ watchDurationMs: 100_000 });
    await bench.clock.advance(1_000);
    expect(await running()).toBe('1');
    await bench.clock.advance(300_000);
    expect(await running()).toBe('0');
  });
});

describe('the end of the program', () => {
  it('opens no watch for a weeding that has just started', async () => {
    bench.kubelet.endpoints(etcd, false);
    bench.start();
    await bench.clock.advance(1_000);
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(5);
    expect(await running()).toBe('1');
    await bench.stopWeeder();
    bench.line.requests.reset();
    await bench.clock.advance(60_000);
    expect(bench.line.requests.total()).toBe(0);
  });

  it('ends and logs its weedings', async () => {
    await begin();
    await bench.stopWeeder();
    expect(bench.told('weeding ends')).toMatchObject([{ namespace: ns, why: 'stopped', deleted: 1 }]);
    expect(await running()).toBe('0');
  });
});
