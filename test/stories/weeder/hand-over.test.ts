import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WeederFixture, createWeederFixture } from '../../../simulator/harness/weeder/fixture.ts';
import { beginWithoutEtcd, etcd, ns } from '../../../simulator/harness/weeder/support.ts';

const pod = (name: string, owner = 'api') => ({ namespace: ns, name, owner });

let fixture: WeederFixture;
beforeEach(() => {
  fixture = createWeederFixture();
});
afterEach(() => fixture.stop());

const begin = async (): Promise<void> => {
  await beginWithoutEtcd(fixture);
  fixture.kubelet.crash(pod('api-0'));
  fixture.kubelet.endpoints(etcd, true);
  await fixture.clock.advance(1_000);
};

const running = async (): Promise<string | undefined> =>
  /dwd_weeder_weedings\{service="etcd-main-client"\} (\d+)/.exec(await fixture.weeder().meter.metricsText())?.[1];

describe('a change of the configuration', () => {
  it('keeps the back-off of owners, even twice and without a weeding', async () => {
    await begin();
    fixture.kubelet.endpoints(etcd, false);
    await fixture.clock.advance(500);
    fixture.kubelet.crash(pod('api-1'));
    for (const watchDurationMs of [100_000, 200_000]) {
      fixture.reload({ watchDurationMs });
      await fixture.clock.advance(1_000);
    }
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(20_000);
    expect(fixture.kubelet.deleted).toEqual([`${ns}/api-0 at 10.0`, `${ns}/api-1 at 20.0`]);
  });

  it('does not shorten the wait of a Retry-After', async () => {
    fixture.line.setFaults(({ method }) => (method === 'DELETE' ? { status: 429, retryAfter: 40 } : undefined));
    await begin();
    fixture.reload({ watchDurationMs: 100_000 });
    await fixture.clock.advance(30_000);
    expect(fixture.line.requests.total({ verb: 'delete' })).toBe(1);
    await fixture.clock.advance(15_000);
    expect(fixture.line.requests.total({ verb: 'delete' })).toBe(2);
  });

  it('ends the weeding of a removed service while a delete is in flight', async () => {
    fixture.line.setFaults(({ method }) => (method === 'DELETE' ? { delayMs: 3_000 } : undefined));
    await begin();
    fixture.reload({ watchDurationMs: 100_000 });
    await fixture.clock.advance(1_000);
    fixture.kubelet.removeEndpoints(etcd);
    await fixture.clock.advance(5_000);
    expect(fixture.logged('weeding ends')).toMatchObject([{ why: 'not-ready', deleted: 1 }]);
  });

  it('counts running weedings once', async () => {
    await begin();
    expect(await running()).toBe('1');
    fixture.reload({ watchDurationMs: 100_000 });
    await fixture.clock.advance(1_000);
    expect(await running()).toBe('1');
    await fixture.clock.advance(300_000);
    expect(await running()).toBe('0');
  });
});

describe('the end of the program', () => {
  it('opens no watch for a weeding that has just started', async () => {
    fixture.kubelet.endpoints(etcd, false);
    fixture.start();
    await fixture.clock.advance(1_000);
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(5);
    expect(await running()).toBe('1');
    await fixture.stopWeeder();
    fixture.line.requests.reset();
    await fixture.clock.advance(60_000);
    expect(fixture.line.requests.total()).toBe(0);
  });

  it('ends and logs its weedings', async () => {
    await begin();
    await fixture.stopWeeder();
    expect(fixture.logged('weeding ends')).toMatchObject([{ namespace: ns, why: 'stopped', deleted: 1 }]);
    expect(await running()).toBe('0');
  });
});
