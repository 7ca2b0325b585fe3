import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { type WeederFixture, createWeederFixture, weederSettings } from '../../../simulator/harness/weeder/fixture.ts';
import { beginWithoutEtcd, etcd, ns } from '../../../simulator/harness/weeder/support.ts';
import { requestKind } from '../../../simulator/network/counting.ts';
import type { RequestFault } from '../../../simulator/network/faults.ts';
import type { KubeRequest } from '../../../src/kubernetes/api/kube.ts';

const pod = (name: string, owner = name) => ({ namespace: ns, name, owner });

let fixture: WeederFixture;
beforeEach(() => {
  fixture = createWeederFixture();
});
afterEach(() => fixture.stop());

const begin = (): Promise<void> => beginWithoutEtcd(fixture);

const is = (request: KubeRequest, kind: string): boolean => {
  const { verb, resource } = requestKind(request);
  return `${verb} ${resource}` === kind;
};

describe('deletes that fail', () => {
  it.each<[string, RequestFault]>([
    ['403', { status: 403 }],
    ['409 though the pod has not changed', { status: 409 }],
    ['429 with Retry-After', { status: 429, retryAfter: 3 }],
    ['a connection reset', 'reset'],
    ['no response', 'drop'],
  ])('with %s are retried, logged once for all namespaces, and counted', async (_, fault) => {
    await begin();
    fixture.kubelet.crash(pod('api-1'));
    fixture.kubelet.crash({ ...pod('api-2'), namespace: 'shoot--b' });
    let failures = 0;
    fixture.line.setFaults((request) => {
      if (!is(request, 'delete pods') || failures >= 6) return undefined;
      failures += 1;
      return fault;
    });
    for (const namespace of [ns, 'shoot--b']) fixture.kubelet.endpoints({ namespace, name: etcd.name }, true);
    await fixture.clock.advance(120_000);
    expect(fixture.kubelet.deleted).toHaveLength(2);
    const lines = fixture.logged('deleting failed, trying again');
    expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    expect(await fixture.weeder().meter.metricsText()).toMatch(
      /dwd_weeder_delete_errors_total\{service="etcd-main-client",code="\w+"\} 6\b/,
    );
  });

  it('for two causes log each cause once in ten minutes', async () => {
    fixture.kubelet.endpoints(etcd, false);
    fixture.start({ watchDurationMs: 3_600_000 });
    await fixture.clock.advance(10_000);
    for (const name of ['api-1', 'api-2', 'api-3', 'api-4']) fixture.kubelet.crash(pod(name));
    let failures = 0;
    fixture.line.setFaults((request) => {
      if (!is(request, 'delete pods')) return undefined;
      failures += 1;
      return { status: failures % 2 === 0 ? 403 : 500 };
    });
    fixture.kubelet.endpoints(etcd, true);
    const told = (): readonly unknown[] =>
      fixture
        .logged('deleting failed, trying again')
        .flatMap(({ level, error }) => (level === 'error' ? [/\b(403|500)\b/.exec(String(error))?.[1]] : []));
    await fixture.clock.advance(599_000);
    expect(told()).toEqual(['500', '403']);
    await fixture.clock.advance(60_000);
    expect(told().slice(2).toSorted()).toEqual(['403', '500']);
  });
});

describe('watches', () => {
  it('of EndpointSlices that list again weed for a service that is ready as before, because it may have been unready meanwhile', async () => {
    await begin();
    fixture.kubelet.endpoints(etcd, true);
    fixture.kubelet.endpoints({ namespace: 'shoot--b', name: etcd.name }, true);
    await fixture.clock.advance(400_000);
    fixture.world.api.setReachability('silent');
    fixture.kubelet.endpoints(etcd, false);
    fixture.kubelet.crash(pod('api-1'));
    await fixture.clock.advance(10_000);
    fixture.kubelet.endpoints(etcd, true);
    fixture.world.store.compact();
    await fixture.clock.advance(60_000);
    fixture.world.api.setReachability('open');
    await fixture.clock.advance(61_000);
    expect(fixture.kubelet.deleted).toHaveLength(1);
    // A service whose slices are as before was ready all the time.
    expect(fixture.logged('weeding starts: the service is ready')).toHaveLength(3);
  });

  it('that are broken appear in the checks, those of pods only during a weeding, and the weeder stays ready', async () => {
    await begin();
    fixture.kubelet.endpoints(etcd, true);
    fixture.kubelet.endpoints({ namespace: 'shoot--b', name: etcd.name }, true);
    await fixture.clock.advance(130_000);
    expect(fixture.weeder().checks()).toEqual([{ name: 'endpoint-slices', ok: true }]);
    fixture.world.api.setReachability('silent');
    await fixture.clock.advance(100_000);
    const silent = /nothing heard of the watch for 1\d\d s/;
    expect(fixture.weeder().checks()).toEqual([
      { name: 'endpoint-slices', ok: true, detail: expect.stringMatching(silent) as string },
      { name: 'pods', ok: true, detail: expect.stringMatching(silent) as string },
    ]);
    expect(fixture.weeder().checks()[1]?.detail).toMatch(/; and 1 more$/);
    expect(await fixture.weeder().meter.metricsText()).toMatch(
      /dwd_watch_age_seconds\{resource="pods",selector="role=apiserver"\} 1\d\d/,
    );
    fixture.world.api.setReachability('open');
    await fixture.clock.advance(45_000);
    expect(fixture.weeder().checks()).toEqual([{ name: 'endpoint-slices', ok: true }]);
  });

  it('that are forbidden are logged once in ten minutes, and retried', async () => {
    const shoots = ['shoot--a', 'shoot--b', 'shoot--c'];
    for (const namespace of shoots) fixture.kubelet.endpoints({ namespace, name: etcd.name }, false);
    fixture.start({ watchDurationMs: 3_600_000 });
    await fixture.clock.advance(10_000);
    for (const namespace of shoots) fixture.kubelet.crash({ ...pod('api-1'), namespace });
    fixture.line.setFaults((request) => (is(request, 'list pods') ? { status: 403 } : undefined));
    const warnings = () =>
      fixture.log.filter(({ level, msg }) => level === 'warn' && msg.startsWith('list and watch interrupted'));
    const recover = (namespace: string): void => fixture.kubelet.endpoints({ namespace, name: etcd.name }, true);
    recover('shoot--a');
    recover('shoot--b');
    await fixture.clock.advance(600_000);
    expect(warnings()).toHaveLength(1);
    recover('shoot--c');
    await fixture.clock.advance(60_000);
    expect(warnings()).toHaveLength(2);
    fixture.line.setFaults(undefined);
    await fixture.clock.advance(31_000);
    expect(fixture.kubelet.deleted).toHaveLength(shoots.length);
  });
});

describe('restart, hand-over and reload', () => {
  it('sends no delete after another weeder has become leader', async () => {
    await begin();
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(5_000);
    fixture.scenario.mayWrite = false;
    fixture.kubelet.crash(pod('api-1'));
    await fixture.clock.advance(60_000);
    expect(fixture.line.requests.total({ verb: 'delete' })).toBe(0);
    await fixture.stopWeeder();
    fixture.scenario.mayWrite = true;
    fixture.start();
    await fixture.clock.advance(1_000);
    expect(fixture.kubelet.deleted).toHaveLength(1);
  });

  it('continues weedings with the selectors of a new configuration, and starts none for services known before', async () => {
    await begin();
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(1_000);
    const [first] = weederSettings.services;
    fixture.reload({
      services: [{ ...first!, podSelectors: [{ matchLabels: { role: 'new' }, matchExpressions: [] }] }],
    });
    await fixture.clock.advance(5_000);
    fixture.kubelet.crash({ ...pod('old-1') });
    fixture.kubelet.crash({ ...pod('new-1'), labels: { role: 'new' } });
    await fixture.clock.advance(1_000);
    expect(fixture.kubelet.deleted.map((line) => line.split(' ')[0])).toEqual([`${ns}/new-1`]);
    expect(fixture.logged('weeding starts: the service is ready')).toHaveLength(1);
    await fixture.clock.advance(300_000);
    expect(fixture.logged('weeding ends')).toMatchObject([{ why: 'expired' }]);
  });

  it('weeds for a service that recovers while a change of the configuration awaits a delete', async () => {
    const other = { namespace: 'shoot--b', name: etcd.name };
    fixture.kubelet.endpoints(other, true);
    await begin();
    await fixture.clock.advance(400_000);
    fixture.kubelet.crash(pod('api-1'));
    fixture.line.setFaults((request) => (is(request, 'delete pods') ? { delayMs: 5_000 } : undefined));
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(1_000);
    fixture.reload({ watchDurationMs: 200_000 });
    await fixture.clock.advance(1_000);
    for (const ready of [false, true]) fixture.kubelet.endpoints(other, ready);
    fixture.kubelet.crash({ ...pod('api-2'), namespace: other.namespace });
    await fixture.clock.advance(20_000);
    expect(fixture.kubelet.deleted).toHaveLength(2);
  });

  it('ends the weeding of a service that is no longer configured, and starts one for a new service that is ready', async () => {
    await begin();
    const other = { namespace: ns, name: 'other' };
    fixture.kubelet.endpoints(etcd, true);
    fixture.kubelet.endpoints(other, true);
    await fixture.clock.advance(1_000);
    const [first] = weederSettings.services;
    fixture.reload({ services: [{ ...first!, name: 'other' }] });
    await fixture.clock.advance(1_000);
    expect(fixture.logged('weeding ends')).toMatchObject([{ service: 'etcd-main-client', why: 'stopped' }]);
    fixture.kubelet.crash(pod('api-1'));
    await fixture.clock.advance(1_000);
    expect(fixture.logged('deleted a crash-looping pod')).toMatchObject([{ service: 'other' }]);
  });
});

it('dry run logs once what it would have deleted, and writes nothing', async () => {
  fixture.kubelet.endpoints(etcd, true);
  fixture.kubelet.crash(pod('api-1'));
  fixture.start({}, { dryRun: true });
  await fixture.clock.advance(120_000);
  expect(fixture.logged('would have deleted a crash-looping pod')).toHaveLength(1);
  expect([...fixture.line.requests.byKey.keys()].filter((key) => !/^(list|watch) /.test(key))).toEqual([]);
  expect(fixture.kubelet.deleted).toEqual([]);
});

/** Sets the faults of deletes by the name of the pod. */
const answerDeletes = (faultOf: (name: string) => RequestFault | undefined): void =>
  fixture.line.setFaults((request) =>
    requestKind(request).verb === 'delete' ? faultOf(request.path.split('/').at(-1) ?? '') : undefined,
  );

/** Creates a crash-looping pod for each deleted pod, at most 50. Returns the function that ends this. */
const recreatePods = (owner: string): (() => void) => {
  let made = 0;
  return fixture.world.store.subscribe(simKinds.Pod, ({ type }) => {
    if (type !== 'DELETED' || made === 50) return;
    made += 1;
    fixture.kubelet.crash(pod(`${owner}-${String(made)}`, owner));
  });
};

it('responses that arrive after the weeding has ended count for that weeding, and not for the next one of the service', async () => {
  await begin();
  fixture.kubelet.crash(pod('api-1'));
  fixture.kubelet.crash(pod('api-2'));
  answerDeletes((name) => ({ delayMs: 3_000, ...(name === 'api-1' ? {} : { then: { status: 500 } }) }));
  fixture.kubelet.endpoints(etcd, true);
  await fixture.clock.advance(500);
  fixture.kubelet.endpoints(etcd, false);
  await fixture.clock.advance(10_000);
  fixture.kubelet.endpoints(etcd, true);
  await fixture.clock.advance(3_500);
  fixture.line.setFaults(undefined);
  await fixture.clock.advance(301_000);
  expect(fixture.logged('weeding ends')).toMatchObject([
    { why: 'not-ready', deleted: 0 },
    { why: 'expired', deleted: 1 },
  ]);
  expect(fixture.logged('deleting failed, trying again').map(({ level }) => level)).toEqual(['error', 'debug']);
});

it('lost responses may hide a delete, so the replacement waits for the back-off and the weeder does not cause a crash loop', async () => {
  await begin();
  fixture.kubelet.crash(pod('api-0', 'api'));
  const unsubscribe = recreatePods('api');
  answerDeletes(() => ({ afterWrite: 'reset' }));
  fixture.kubelet.endpoints(etcd, true);
  await fixture.clock.advance(150_000);
  unsubscribe();
  expect(fixture.kubelet.deleted.map((line) => line.split(' at ')[1])).toEqual(['10.0', '20.0', '40.0', '80.0']);
});

describe('responses that take a second each', () => {
  /** Starts a weeding with more pods than the number of deletes in flight at the same time. */
  const beginWithMany = async (): Promise<void> => {
    await begin();
    answerDeletes(() => ({ delayMs: 1_000 }));
    for (let index = 0; index < 60; index += 1) fixture.kubelet.crash(pod(`api-${String(index)}`));
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(1_500);
  };
  const sent = (): number => fixture.line.requests.total({ verb: 'delete', resource: 'pods' });
  const logged = (): number => fixture.logged('deleted a crash-looping pod').length;

  it('leave the unsent deletes of an ended weeding to the next one', async () => {
    await beginWithMany();
    expect([sent(), logged()]).toEqual([40, 20]);
    fixture.kubelet.endpoints(etcd, false);
    await fixture.clock.advance(60_000);
    expect([logged(), fixture.kubelet.deleted.length]).toEqual([40, 40]);
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(5_000);
    expect([logged(), fixture.kubelet.deleted.length]).toEqual([60, 60]);
  });

  it('do not make a weeder that stops send its unsent deletes: it awaits those that it has sent, and sends nothing more', async () => {
    await beginWithMany();
    await fixture.stopWeeder();
    expect([sent(), logged(), fixture.kubelet.deleted.length]).toEqual([40, 40, 40]);
    expect(fixture.logged('weeding ends')).toMatchObject([{ why: 'stopped', deleted: 40 }]);
    expect(fixture.logged('deleting failed, trying again')).toEqual([]);
    fixture.line.requests.reset();
    await fixture.clock.advance(600_000);
    expect(fixture.line.requests.total()).toBe(0);
  });

  it('delay the deletes of a thousand pods, and none counts as failed', async () => {
    const shoots = Array.from({ length: 100 }, (_, index) => `shoot--${String(index)}`);
    const pods = shoots.flatMap((namespace) =>
      Array.from({ length: 10 }, (_, index) => ({ namespace, name: `api-${String(index)}` })),
    );
    for (const each of pods) fixture.kubelet.crash(each);
    await begin();
    answerDeletes(() => ({ delayMs: 1_000 }));
    for (const namespace of shoots) fixture.kubelet.endpoints({ ...etcd, namespace }, true);
    await fixture.clock.advance(60_000);
    expect(fixture.logged('deleting failed, trying again')).toEqual([]);
    expect(fixture.kubelet.deleted).toHaveLength(1_000);
  });
});

describe('a hand-over', () => {
  const ofApi = (name: string) => pod(name, 'api');

  const beginWeeding = async (): Promise<void> => {
    await beginWithoutEtcd(fixture);
    fixture.kubelet.crash(ofApi('api-0'));
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(1_000);
  };

  const running = async (): Promise<string | undefined> =>
    /dwd_weeder_weedings\{service="etcd-main-client"\} (\d+)/.exec(await fixture.weeder().meter.metricsText())?.[1];

  describe('a change of the configuration', () => {
    it('keeps the back-off of owners, even twice and without a weeding', async () => {
      await beginWeeding();
      fixture.kubelet.endpoints(etcd, false);
      await fixture.clock.advance(500);
      fixture.kubelet.crash(ofApi('api-1'));
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
      await beginWeeding();
      fixture.reload({ watchDurationMs: 100_000 });
      await fixture.clock.advance(30_000);
      expect(fixture.line.requests.total({ verb: 'delete' })).toBe(1);
      await fixture.clock.advance(15_000);
      expect(fixture.line.requests.total({ verb: 'delete' })).toBe(2);
    });

    it('ends the weeding of a removed service while a delete is in flight', async () => {
      fixture.line.setFaults(({ method }) => (method === 'DELETE' ? { delayMs: 3_000 } : undefined));
      await beginWeeding();
      fixture.reload({ watchDurationMs: 100_000 });
      await fixture.clock.advance(1_000);
      fixture.kubelet.removeEndpoints(etcd);
      await fixture.clock.advance(5_000);
      expect(fixture.logged('weeding ends')).toMatchObject([{ why: 'not-ready', seconds: 2 }]);
    });

    it('counts running weedings once', async () => {
      await beginWeeding();
      fixture.reload({ watchDurationMs: 100_000 });
      await fixture.clock.advance(1_000);
      expect(await running()).toBe('1');
      await fixture.clock.advance(300_000);
      expect(await running()).toBe('0');
    });
  });

  it('the end of the program opens no watch for a weeding that has just started', async () => {
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
});
