import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WeederBench, createWeederBench, weederSettings } from '../../../simulator/harness/weeder/bench.ts';
import { beginWithoutEtcd, etcd, ns } from '../../../simulator/harness/weeder/support.ts';
import { requestKind } from '../../../simulator/network/counting.ts';
import type { Fault } from '../../../simulator/network/faults.ts';
import type { KubeRequest } from '../../../src/kubernetes/api/kube.ts';

const pod = (name: string, owner = name) => ({ namespace: ns, name, owner });

let bench: WeederBench;
beforeEach(() => {
  bench = createWeederBench();
});
afterEach(() => bench.stop());

const begin = (): Promise<void> => beginWithoutEtcd(bench);

const is = (request: KubeRequest, kind: string): boolean => {
  const { verb, resource } = requestKind(request);
  return `${verb} ${resource}` === kind;
};

describe('deletes that fail', () => {
  it.each<[string, Fault]>([
    ['403', { status: 403 }],
    ['409 though the pod has not changed', { status: 409 }],
    ['429', { status: 429 }],
    ['429 with Retry-After', { status: 429, retryAfter: 3 }],
    ['500', { status: 500 }],
    ['503 with Retry-After', { status: 503, retryAfter: 2 }],
    ['a connection that breaks', 'reset'],
    ['no answer', 'drop'],
  ])('with %s are retried, logged once and counted', async (_, fault) => {
    await begin();
    bench.kubelet.crash(pod('api-1'));
    bench.kubelet.crash(pod('api-2'));
    let failures = 0;
    bench.line.setFaults((request) => {
      if (!is(request, 'delete pods') || failures >= 6) return undefined;
      failures += 1;
      return fault;
    });
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(120_000);
    expect(bench.kubelet.deleted).toHaveLength(2);
    const lines = bench.told('deleting failed, trying again');
    expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    expect(await bench.meter().metricsText()).toMatch(
      /dwd_weeder_delete_errors_total\{service="etcd-main-client",code="\w+"\} 6\b/,
    );
  });

  it('for two causes log each of them once', async () => {
    await begin();
    for (const name of ['api-1', 'api-2', 'api-3', 'api-4']) bench.kubelet.crash(pod(name));
    let failures = 0;
    bench.line.setFaults((request) => {
      if (!is(request, 'delete pods')) return undefined;
      failures += 1;
      return { status: failures % 2 === 0 ? 403 : 500 };
    });
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(30_000);
    const lines = bench.told('deleting failed, trying again').filter(({ level }) => level === 'error');
    expect(lines.map(({ error }) => /\b(403|500)\b/.exec(String(error))?.[1])).toEqual(['500', '403']);
  });

  it('because the answer is lost do not delete the pod that replaced the first', async () => {
    await begin();
    bench.kubelet.crash(pod('api-1', 'api'));
    let lost = 0;
    bench.line.setFaults((request) => {
      if (!is(request, 'delete pods') || lost > 0) return undefined;
      lost += 1;
      return { afterWrite: 'reset' };
    });
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(5_000);
    bench.kubelet.run(pod('api-1', 'api'));
    await bench.clock.advance(60_000);
    expect(bench.kubelet.deleted).toEqual([`${ns}/api-1 at 10.0`]);
  });
});

describe('watches', () => {
  it('of pods that break are opened again, and no change is missed', async () => {
    await begin();
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(20_000);
    bench.world.api.setReachability('refused');
    bench.kubelet.crash(pod('api-1'));
    await bench.clock.advance(20_000);
    expect(bench.kubelet.deleted).toEqual([]);
    bench.world.api.setReachability('open');
    await bench.clock.advance(31_000);
    expect(bench.kubelet.deleted).toHaveLength(1);
  });

  it('with an expired resourceVersion (410) list again', async () => {
    await begin();
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(20_000);
    bench.world.api.setReachability('refused');
    bench.kubelet.crash(pod('api-1'));
    bench.kubelet.endpoints({ namespace: 'shoot--b', name: etcd.name }, true);
    bench.kubelet.crash({ ...pod('api-9'), namespace: 'shoot--b' });
    bench.world.store.compact();
    bench.world.api.setReachability('open');
    await bench.clock.advance(31_000);
    expect(bench.kubelet.deleted.map((line) => line.split(' ')[0]).toSorted()).toEqual([
      `${ns}/api-1`,
      'shoot--b/api-9',
    ]);
  });

  it('of slices that were broken notice a service that became ready meanwhile', async () => {
    await begin();
    bench.kubelet.crash(pod('api-1'));
    bench.world.api.setReachability('silent');
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(60_000);
    bench.world.api.setReachability('open');
    await bench.clock.advance(31_000);
    expect(bench.kubelet.deleted).toHaveLength(1);
  });

  it('that are broken appear in the checks, those of pods during a weeding, and the weeder stays ready', async () => {
    await begin();
    bench.kubelet.endpoints(etcd, true);
    bench.kubelet.endpoints({ namespace: 'shoot--b', name: etcd.name }, true);
    await bench.clock.advance(130_000);
    expect(bench.checks()).toEqual([{ name: 'endpoint-slices', ok: true }]);
    bench.world.api.setReachability('silent');
    await bench.clock.advance(100_000);
    const silent = /nothing heard of the watch for 1\d\d s/;
    expect(bench.checks()).toEqual([
      { name: 'endpoint-slices', ok: true, detail: expect.stringMatching(silent) as string },
      { name: 'pods', ok: true, detail: expect.stringMatching(silent) as string },
    ]);
    expect(bench.checks()[1]?.detail).toMatch(/; and 1 more$/);
    expect(await bench.meter().metricsText()).toMatch(
      /dwd_watch_age_seconds\{resource="pods",selector="role=apiserver"\} 1\d\d/,
    );
    bench.world.api.setReachability('open');
    await bench.clock.advance(45_000);
    expect(bench.checks()).toEqual([{ name: 'endpoint-slices', ok: true }]);
  });

  it('that are forbidden are logged once, counted, and retried', async () => {
    const shoots = ['shoot--a', 'shoot--b', 'shoot--c'];
    for (const namespace of shoots) bench.kubelet.endpoints({ namespace, name: etcd.name }, false);
    bench.start();
    await bench.clock.advance(10_000);
    for (const namespace of shoots) bench.kubelet.crash({ ...pod('api-1'), namespace });
    bench.line.setFaults((request) => (is(request, 'list pods') ? { status: 403 } : undefined));
    for (const namespace of shoots) bench.kubelet.endpoints({ namespace, name: etcd.name }, true);
    await bench.clock.advance(60_000);
    const warnings = bench.log.filter(
      ({ level, msg }) => level === 'warn' && msg.startsWith('list and watch interrupted'),
    );
    expect(warnings).toHaveLength(1);
    const metrics = await bench.meter().metricsText();
    expect(Number(/dwd_weeder_watch_errors_total\{code="403"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(2);
    bench.line.setFaults(undefined);
    await bench.clock.advance(31_000);
    expect(bench.kubelet.deleted).toHaveLength(shoots.length);
  });
});

describe('restart, hand-over and reload', () => {
  it('weeds once for every service that is ready when it starts, and again for one that becomes ready later', async () => {
    bench.kubelet.endpoints(etcd, true);
    bench.kubelet.crash(pod('api-1'));
    bench.start();
    await bench.clock.advance(1_000);
    expect(bench.kubelet.deleted).toHaveLength(1);
    await bench.stopWeeder();
    bench.kubelet.crash(pod('api-2'));
    bench.start();
    await bench.clock.advance(1_000);
    expect(bench.kubelet.deleted).toHaveLength(2);
  });

  it('sends nothing after another weeder has taken the lead', async () => {
    await begin();
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(5_000);
    bench.mayWrite = false;
    bench.kubelet.crash(pod('api-1'));
    await bench.clock.advance(60_000);
    expect(bench.line.requests.total({ verb: 'delete' })).toBe(0);
    await bench.stopWeeder();
    bench.mayWrite = true;
    bench.start();
    await bench.clock.advance(1_000);
    expect(bench.kubelet.deleted).toHaveLength(1);
  });

  it('ends all watches when it stops, and awaits a delete that was sent', async () => {
    await begin();
    bench.kubelet.crash(pod('api-1'));
    bench.line.setFaults((request) => (is(request, 'delete pods') ? { delayMs: 1_500 } : undefined));
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(500);
    await bench.stopWeeder();
    expect(bench.kubelet.deleted).toHaveLength(1);
    expect(bench.told('deleted a crash-looping pod')).toHaveLength(1);
    bench.line.requests.reset();
    await bench.clock.advance(600_000);
    expect(bench.line.requests.total()).toBe(0);
  });

  it('continues its weedings under another configuration with the new selectors, and starts none for services it knew', async () => {
    await begin();
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(1_000);
    const [first] = weederSettings.services;
    bench.reload({
      services: [{ ...first!, podSelectors: [{ matchLabels: { role: 'new' }, matchExpressions: [] }] }],
    });
    await bench.clock.advance(5_000);
    bench.kubelet.crash({ ...pod('old-1') });
    bench.kubelet.crash({ ...pod('new-1'), labels: { role: 'new' } });
    await bench.clock.advance(1_000);
    expect(bench.kubelet.deleted.map((line) => line.split(' ')[0])).toEqual([`${ns}/new-1`]);
    expect(bench.told('weeding starts: the service is ready')).toHaveLength(1);
    await bench.clock.advance(300_000);
    expect(bench.told('weeding ends')).toMatchObject([{ why: 'expired' }]);
  });

  it('takes the answer of a delete that was sent before a change of the configuration', async () => {
    await begin();
    bench.kubelet.crash(pod('api-1'));
    bench.line.setFaults((request) =>
      is(request, 'delete pods') ? { delayMs: 1_500, then: { status: 500 } } : undefined,
    );
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(500);
    bench.reload({ watchDurationMs: 100_000 });
    await bench.clock.advance(500);
    bench.line.setFaults(undefined);
    await bench.clock.advance(30_000);
    expect(bench.kubelet.deleted).toHaveLength(1);
  });

  it('ends the weeding of a service that is no longer configured, and starts one for a new service that is ready', async () => {
    await begin();
    const other = { namespace: ns, name: 'other' };
    bench.kubelet.endpoints(etcd, true);
    bench.kubelet.endpoints(other, true);
    await bench.clock.advance(1_000);
    const [first] = weederSettings.services;
    bench.reload({ services: [{ ...first!, name: 'other' }] });
    await bench.clock.advance(1_000);
    expect(bench.told('weeding ends')).toMatchObject([{ service: 'etcd-main-client', why: 'stopped' }]);
    bench.kubelet.crash(pod('api-1'));
    await bench.clock.advance(1_000);
    expect(bench.told('deleted a crash-looping pod')).toMatchObject([{ service: 'other' }]);
  });
});

describe('dry run', () => {
  it('logs once what it would have deleted, and writes nothing', async () => {
    bench.kubelet.endpoints(etcd, true);
    bench.kubelet.crash(pod('api-1'));
    bench.start({}, { dryRun: true });
    await bench.clock.advance(120_000);
    expect(bench.told('would have deleted a crash-looping pod')).toHaveLength(1);
    expect([...bench.line.requests.byKey.keys()].filter((key) => !/^(list|watch) /.test(key))).toEqual([]);
    expect(bench.kubelet.deleted).toEqual([]);
  });
});
