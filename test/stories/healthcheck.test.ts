import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatTime } from '../../simulator/apiserver/time.ts';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { HealthCheckFixture, backupEntryKind, workerKind } from '../../simulator/harness/healthcheck-fixture.ts';
import type { CheckResult, HealthCheck } from '../../src/healthcheck/check.ts';
import { runHealthChecks } from '../../src/healthcheck/controller.ts';
import { createKubeClient } from '../../src/kubernetes/client/client.ts';
import { createRecordingLogger } from '../doubles/recording-logger.ts';

const type = 'ControlPlaneHealthy';
const fine: CheckResult = { status: 'True' };
const checkOf = (check: HealthCheck['check'], conditionType = type): HealthCheck => ({ conditionType, check });
const always = (result: CheckResult, conditionType = type): HealthCheck => checkOf(async () => result, conditionType);

/** Start time of the virtual clock. */
const start = '2026-01-01T00:00:00Z';
const at = (seconds: number): string => formatTime(Date.parse(start) + seconds * 1_000);
const patches = () => fixture.requests.total({ verb: 'patch', resource: 'workers/status' });

let fixture: HealthCheckFixture;
beforeEach(() => {
  fixture = new HealthCheckFixture();
});
afterEach(() => fixture.stop());

describe('conditions', () => {
  it('are written at once, and again only when they differ', async () => {
    let result: CheckResult = fine;
    fixture.addWorker('a');
    fixture.start({ checks: [checkOf(async () => result)] });
    await fixture.clock.advance(10_000);
    const written = {
      type,
      status: 'True',
      reason: 'HealthCheckSuccessful',
      message: 'All health checks successful',
      lastTransitionTime: at(0),
      lastUpdateTime: at(0),
    };
    expect(fixture.conditions('a')).toEqual([written]);
    await fixture.clock.advance(290_000);
    expect([fixture.conditions('a'), patches()]).toEqual([[written], 1]);

    result = { status: 'False', detail: 'csi is down', codes: ['ERR_CONFIGURATION_PROBLEM'] };
    await fixture.clock.advance(60_000);
    const unsuccessful = {
      type,
      status: 'False',
      reason: 'HealthCheckUnsuccessful',
      message: 'csi is down.',
      codes: ['ERR_CONFIGURATION_PROBLEM'],
      lastTransitionTime: at(330),
      lastUpdateTime: at(330),
    };
    expect([fixture.conditions('a'), patches()]).toEqual([[unsuccessful], 2]);

    result = { status: 'False', detail: 'csi is down, and so is cni', codes: [] };
    await fixture.clock.advance(60_000);
    const { codes: _, ...changed } = unsuccessful;
    expect(fixture.conditions('a')).toEqual([
      { ...changed, message: 'csi is down, and so is cni.', lastUpdateTime: at(390) },
    ]);

    result = fine;
    await fixture.clock.advance(60_000);
    expect(fixture.conditions('a')).toEqual([{ ...written, lastTransitionTime: at(450), lastUpdateTime: at(450) }]);
    expect(patches()).toBe(4);
  });

  it('are combined to one per type', async () => {
    fixture.addWorker('a');
    fixture.start({
      checks: [
        always({ status: 'False', detail: 'first' }),
        always(fine, 'EveryNodeReady'),
        always({ status: 'False', detail: 'second' }),
      ],
    });
    await fixture.clock.advance(10_000);
    expect(fixture.conditions('a').map((one) => [one.type, one.status, one.message])).toEqual([
      [type, 'False', '1) first. 2) second.'],
      ['EveryNodeReady', 'True', 'All health checks successful'],
    ]);
    expect(patches()).toBe(1);
  });

  it("leave others' unchanged, before their own", async () => {
    const theirs = { type: 'Theirs', status: 'True', extra: { deep: [1] } };
    const old = { type, status: 'False', reason: 'R', message: 'M', codes: ['ERR_A'], lastTransitionTime: start };
    fixture.addWorker('a', { status: { conditions: [old, theirs], lastOperation: { type: 'Reconcile' } } });
    fixture.start({ checks: [always(fine), always(fine, 'EveryNodeReady')] });
    await fixture.clock.advance(10_000);
    const [first, second, third] = fixture.conditions('a');
    expect([second?.type, second?.status, third?.type]).toEqual([type, 'True', 'EveryNodeReady']);
    expect(first).toEqual(theirs);
    expect(fixture.seed.store.get(workerKind, { namespace: 'a', name: 'worker' })?.status).toMatchObject({
      lastOperation: { type: 'Reconcile' },
    });
  });

  it('are Progressing within the threshold, then False until the check succeeds', async () => {
    let result: CheckResult = fine;
    fixture.addWorker('a');
    fixture.start({ checks: [checkOf(async () => result)] });
    await fixture.clock.advance(45_000);
    result = { status: 'Progressing', detail: 'machines come', progressingThresholdMs: 60_000 };
    const seen: string[] = [];
    for (let period = 0; period < 5; period += 1) {
      await fixture.clock.advance(30_000);
      seen.push(
        fixture
          .conditions('a')
          .map((one) => `${one.status} ${one.reason} ${one.lastTransitionTime}`)
          .join(),
      );
    }
    const moving = `Progressing HealthCheckProgressing ${at(60)}`;
    const stuck = `False HealthCheckUnsuccessful ${at(150)}`;
    expect(seen).toEqual([moving, moving, moving, stuck, stuck]);
    result = fine;
    await fixture.clock.advance(30_000);
    expect(fixture.conditions('a')[0]?.status).toBe('True');
  });

  it('of a hibernated shoot are True without a check', async () => {
    let runs = 0;
    fixture.addWorker('a');
    fixture.hibernate('a', true);
    const check = checkOf(async () => {
      runs += 1;
      return { status: 'False', detail: 'down' };
    });
    fixture.start({ checks: [check, { ...check, conditionType: 'EveryNodeReady' }] });
    await fixture.clock.advance(60_000);
    const asleep = { status: 'True', reason: 'HealthCheckSuccessful', message: 'Shoot is hibernated' };
    expect(fixture.conditions('a')).toMatchObject([
      { type, ...asleep },
      { type: 'EveryNodeReady', ...asleep },
    ]);
    expect([runs, patches()]).toEqual([0, 1]);
    fixture.hibernate('a', false);
    await fixture.clock.advance(30_000);
    expect(fixture.conditions('a')).toMatchObject([{ status: 'False' }, { status: 'False' }]);
  });
});

describe('objects', () => {
  it('of another type are not checked', async () => {
    fixture.addWorker('a', { type: 'aws' });
    fixture.addWorker('b');
    fixture.start({ checks: [always(fine)] });
    await fixture.clock.advance(60_000);
    expect([fixture.conditions('a'), fixture.conditions('b').length]).toEqual([[], 1]);
  });

  it('that are being deleted are not checked', async () => {
    fixture.addWorker('a', { metadata: { finalizers: ['x'] } });
    fixture.seed.store.delete(workerKind, { namespace: 'a', name: 'worker' });
    fixture.start({ checks: [always(fine)] });
    await fixture.clock.advance(60_000);
    expect([fixture.conditions('a'), fixture.requests.total({ resource: 'clusters' })]).toEqual([[], 0]);
  });

  it('without a namespace belong to the shoot that their name contains', async () => {
    fixture.hibernate('shoot--dev--one', false);
    const name = 'shoot--dev--one--2f1d-4a';
    fixture.seed.store.put(backupEntryKind, { metadata: { name }, spec: { type: 'local' } });
    const checked: string[] = [];
    const check = checkOf(async ({ extension, shoot }) => {
      await shoot();
      checked.push(extension.controlPlane);
      return fine;
    });
    fixture.start({ kind: 'BackupEntry', checks: [check] });
    await fixture.clock.advance(10_000);
    expect(fixture.seed.store.get(backupEntryKind, { name })?.status).toMatchObject({
      conditions: [{ type, status: 'True' }],
    });
    expect([checked, fixture.connected]).toEqual([['shoot--dev--one'], ['shoot--dev--one']]);
    fixture.hibernate('shoot--dev--one', true);
    await fixture.clock.advance(30_000);
    expect(fixture.seed.store.get(backupEntryKind, { name })?.status).toMatchObject({
      conditions: [{ type, status: 'True', message: 'Shoot is hibernated' }],
    });
  });

  it('that are created later are checked, and deleted ones are not', async () => {
    fixture.start({ checks: [always(fine)] });
    await fixture.clock.advance(45_000);
    fixture.addWorker('a');
    await fixture.clock.advance(30_000);
    expect(fixture.conditions('a')).toHaveLength(1);
    fixture.seed.store.remove(workerKind, { namespace: 'a', name: 'worker' });
    const before = fixture.requests.total({ resource: 'clusters' });
    await fixture.clock.advance(60_000);
    expect(fixture.requests.total({ resource: 'clusters' })).toBe(before);
  });

  it('that are deleted during their check cause no failure', async () => {
    fixture.addWorker('a');
    const remove = checkOf(async () => {
      fixture.seed.store.remove(workerKind, { namespace: 'a', name: 'worker' });
      return fine;
    });
    fixture.start({ checks: [remove] });
    await fixture.clock.advance(60_000);
    expect(fixture.log.filter(({ level }) => level !== 'info')).toEqual([]);
  });

  it('are checked up to `concurrency` at a time, and all in each period', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    for (const name of names) fixture.addWorker(name);
    let running = 0;
    let most = 0;
    const runs: string[] = [];
    const slow = checkOf(async ({ extension, signal }) => {
      running += 1;
      most = Math.max(most, running);
      await fixture.clock.sleep(5_000, signal);
      running -= 1;
      runs.push(extension.meta.namespace);
      return fine;
    });
    fixture.start({ checks: [slow], concurrency: 2 });
    await fixture.clock.advance(29_000);
    expect([most, runs.toSorted()]).toEqual([2, names]);
    await fixture.clock.advance(30_000);
    expect(runs).toHaveLength(14);
  });
});

describe('a watched Cluster', () => {
  const down: CheckResult = { status: 'False', detail: 'down' };

  it('triggers a check at once when its shoot hibernates or wakes up', async () => {
    fixture.addWorker('a');
    fixture.addWorker('b');
    let runs = 0;
    const check = checkOf(async () => {
      runs += 1;
      return down;
    });
    fixture.start({ checks: [check], watches: true });
    await fixture.clock.advance(35_000);
    expect([runs, fixture.conditions('a')[0]?.status]).toEqual([4, 'False']);
    fixture.hibernate('a', true);
    await fixture.clock.advance(100);
    expect(fixture.conditions('a')).toMatchObject([{ status: 'True', message: 'Shoot is hibernated' }]);
    fixture.hibernate('a', false);
    await fixture.clock.advance(100);
    expect([runs, fixture.conditions('a')[0]?.status, fixture.conditions('b')[0]?.status]).toEqual([
      5,
      'False',
      'False',
    ]);
  });

  it('triggers another check after the current one when it changes', async () => {
    fixture.addWorker('a');
    const slow = checkOf(async ({ signal }) => {
      await fixture.clock.sleep(5_000, signal);
      return down;
    });
    fixture.start({ checks: [slow], watches: true });
    await fixture.clock.advance(2_000);
    fixture.hibernate('a', true);
    await fixture.clock.advance(4_000);
    expect(fixture.conditions('a')).toMatchObject([{ status: 'True', message: 'Shoot is hibernated' }]);
  });

  it('ends the writes when the control plane moves to another seed', async () => {
    fixture.addWorker('a');
    fixture.start({ checks: [always(fine)], watches: true });
    await fixture.clock.advance(35_000);
    const before = fixture.requests.total({ verb: 'get', resource: 'workers' });
    fixture.editWorker('a', (worker) => ({
      ...worker,
      metadata: { ...worker.metadata, annotations: { 'gardener.cloud/operation': 'migrate' } },
    }));
    fixture.editShoot('a', { status: { lastOperation: { type: 'Migrate' } } });
    await fixture.clock.advance(100);
    expect([fixture.requests.total({ verb: 'get', resource: 'workers' }) - before, patches()]).toEqual([1, 1]);
  });

  it('triggers no check when anything else changes', async () => {
    fixture.addWorker('a');
    let runs = 0;
    const check = checkOf(async () => {
      runs += 1;
      return fine;
    });
    fixture.start({ checks: [check], watches: true });
    await fixture.clock.advance(10_000);
    fixture.editShoot('a', { status: { lastOperation: { type: 'Reconcile', progress: 7 } } });
    await fixture.clock.advance(10_000);
    expect(runs).toBe(1);
  });

  it('is not watched for classes without Clusters', async () => {
    fixture.start({ checks: [always(fine)], classes: ['garden', 'seed'], watches: true });
    await fixture.clock.advance(10_000);
    expect(fixture.requests.total({ resource: 'clusters' })).toBe(0);
  });
});

describe('classes of extensions', () => {
  const checked = async (options: Partial<Parameters<HealthCheckFixture['start']>[0]>) => {
    for (const ofClass of ['garden', 'seed', 'shoot', 'later']) fixture.addWorker(ofClass, { class: ofClass });
    fixture.addWorker('unset');
    fixture.start({ checks: [always(fine)], ...options });
    await fixture.clock.advance(10_000);
    return ['garden', 'seed', 'shoot', 'later', 'unset'].filter((one) => fixture.conditions(one).length > 0);
  };

  it.each([
    ['shoot by default', {}, ['shoot', 'unset']],
    ['seed', { classes: ['seed'] }, ['seed']],
    ['garden and shoot', { classes: ['garden', 'shoot'] }, ['garden', 'shoot', 'unset']],
  ] as const)('%s', async (_, options, names) => {
    expect(await checked(options)).toEqual(names);
  });

  it('other than shoot have no Cluster and no shoot, and do not hibernate', async () => {
    fixture.addWorker('a', { class: 'seed' });
    fixture.hibernate('a', true);
    const seen: unknown[] = [];
    const check = checkOf(async ({ cluster, shoot }) => {
      seen.push(cluster, await shoot().catch((error: unknown) => (error instanceof Error ? error.message : error)));
      return fine;
    });
    fixture.start({ checks: [check], classes: ['seed'] });
    await fixture.clock.advance(10_000);
    expect(seen).toEqual([undefined, 'an extension of class seed has no shoot']);
    expect([fixture.requests.total({ resource: 'clusters' }), fixture.connected]).toEqual([0, []]);
    expect(fixture.conditions('a')).toMatchObject([{ message: 'All health checks successful' }]);
  });
});

describe('predicates', () => {
  it('that return false skip the object', async () => {
    for (const name of ['a', 'b', 'c']) fixture.addWorker(name, { metadata: { labels: { name } } });
    fixture.start({
      checks: [always(fine)],
      predicates: [({ meta }) => meta.labels.name !== 'a', ({ controlPlane }) => controlPlane !== 'c'],
    });
    await fixture.clock.advance(60_000);
    expect(['a', 'b', 'c'].map((name) => fixture.conditions(name).length)).toEqual([0, 1, 0]);
  });

  it('that throw are logged, and do not delay other objects', async () => {
    fixture.addWorker('a');
    fixture.addWorker('b');
    const predicate = ({ meta }: { readonly meta: { readonly namespace: string } }) => {
      if (meta.namespace === 'a') throw new Error('a bug');
      return true;
    };
    fixture.start({ checks: [always(fine)], predicates: [predicate] });
    await fixture.clock.advance(60_000);
    expect(['a', 'b'].map((name) => fixture.conditions(name).length)).toEqual([0, 1]);
    expect(fixture.log.filter(({ level }) => level === 'warn')).toMatchObject([
      { msg: 'health checks could not be run', namespace: 'a' },
    ]);
  });
});

describe('conditionTypesToRemove', () => {
  const condition = (conditionType: string) => ({ type: conditionType, status: 'False', reason: 'R', message: 'M' });

  it('are removed, and other conditions stay', async () => {
    const theirs = { ...condition('Theirs'), extra: { deep: [1] } };
    fixture.addWorker('a', { status: { conditions: [condition('Old'), theirs, condition('Older')] } });
    fixture.start({ checks: [always(fine)], conditionTypesToRemove: ['Old', 'Older', 'Oldest'] });
    await fixture.clock.advance(60_000);
    expect(fixture.conditions('a')).toEqual([theirs, expect.objectContaining({ type, status: 'True' })]);
    expect(patches()).toBe(1);
  });

  it('are removed even if nothing else differs, the shoot hibernates, or no check can run', async () => {
    const put = (namespace: string) =>
      fixture.editWorker(namespace, (worker) => ({
        ...worker,
        status: { conditions: [...fixture.conditions(namespace), condition('Old')] },
      }));
    fixture.addWorker('a');
    fixture.addWorker('asleep');
    fixture.hibernate('asleep', true);
    fixture.addWorker('unread');
    fixture.setFaults(({ path }) => (path.endsWith('/clusters/unread') ? { status: 500 } : undefined));
    fixture.start({ checks: [always(fine)], conditionTypesToRemove: ['Old'] });
    await fixture.clock.advance(10_000);
    const names = ['a', 'asleep', 'unread'];
    const before = names.map((name) => fixture.conditions(name));
    names.forEach(put);
    await fixture.clock.advance(30_000);
    expect(names.map((name) => fixture.conditions(name))).toEqual(before);
  });
});

describe('a write of the object by another client', () => {
  const touch = (namespace: string, conditions: readonly object[]) =>
    fixture.editWorker(namespace, (worker) => ({ ...worker, status: { ...(worker.status as object), conditions } }));

  it('causes a conflict: conditions are merged with the newly stored ones, and checks do not run twice', async () => {
    fixture.addWorker('a', { status: { conditions: [] } });
    let runs = 0;
    const theirs = { type: 'Theirs', status: 'True' };
    const stored = {
      type,
      status: 'False',
      lastTransitionTime: start,
      lastUpdateTime: start,
      reason: 'R',
      message: 'M',
    };
    const check = checkOf(async () => {
      runs += 1;
      if (runs === 1) touch('a', [theirs, stored]);
      return { status: 'Progressing', detail: 'machines come', progressingThresholdMs: 60_000 };
    });
    fixture.start({ checks: [check] });
    await fixture.clock.advance(10_000);
    // A new condition would be Progressing; the stored False stays.
    expect(fixture.conditions('a')).toMatchObject([theirs, { type, status: 'False', message: 'machines come.' }]);
    expect([runs, patches(), fixture.requests.total({ verb: 'get', resource: 'workers' })]).toEqual([1, 2, 1]);
  });

  it('with the same conditions leaves nothing to write', async () => {
    fixture.addWorker('a');
    let once = true;
    const check = checkOf(async () => {
      if (once) {
        const message = 'All health checks successful';
        touch('a', [
          {
            type,
            status: 'True',
            reason: 'HealthCheckSuccessful',
            message,
            lastTransitionTime: start,
            lastUpdateTime: start,
          },
        ]);
      }
      once = false;
      return fine;
    });
    fixture.start({ checks: [check] });
    await fixture.clock.advance(10_000);
    expect([patches(), fixture.conditions('a')[0]?.lastUpdateTime]).toEqual([1, start]);
  });

  it('that deletes it ends the run', async () => {
    fixture.addWorker('a', { metadata: { finalizers: ['x'] } });
    const check = checkOf(async () => {
      fixture.seed.store.delete(workerKind, { namespace: 'a', name: 'worker' });
      return fine;
    });
    fixture.start({ checks: [check] });
    await fixture.clock.advance(10_000);
    expect([patches(), fixture.conditions('a')]).toEqual([1, []]);
  });

  it('that replaces it ends the run, and the new object gets its own run', async () => {
    fixture.addWorker('a');
    let runs = 0;
    const check = checkOf(async () => {
      runs += 1;
      if (runs > 1) return fine;
      fixture.seed.store.remove(workerKind, { namespace: 'a', name: 'worker' });
      fixture.addWorker('a');
      return { status: 'False', detail: 'of the former one' };
    });
    fixture.start({ checks: [check] });
    await fixture.clock.advance(10_000);
    expect(fixture.conditions('a')).toEqual([]);
    await fixture.clock.advance(30_000);
    expect(fixture.conditions('a')).toMatchObject([{ status: 'True' }]);
  });

  it('that happens continuously limits the run to five attempts per period', async () => {
    fixture.addWorker('a');
    fixture.setFaults(({ method }) => (method === 'PATCH' ? { status: 409 } : undefined));
    fixture.start({ checks: [always(fine)] });
    await fixture.clock.advance(10_000);
    expect([patches(), fixture.log.map(({ msg }) => msg)]).toEqual([5, ['health checks could not be run']]);
    fixture.setFaults(undefined);
    await fixture.clock.advance(30_000);
    expect([fixture.conditions('a').length, fixture.log.at(-1)?.msg]).toEqual([1, 'health checks run again']);
  });

  it('is not repeated if the response was lost', async () => {
    fixture.addWorker('a');
    let lost = 0;
    fixture.setFaults(({ method }) => {
      if (method !== 'PATCH') return undefined;
      lost += 1;
      return lost === 1 ? { afterWrite: 'reset' } : undefined;
    });
    fixture.start({ checks: [always(fine)] });
    await fixture.clock.advance(300_000);
    expect([patches(), fixture.conditions('a')[0]?.lastUpdateTime]).toEqual([1, start]);
  });
});

describe('checks that hang', () => {
  it('are Unknown after one period; others are not affected', async () => {
    fixture.addWorker('a');
    fixture.start({ checks: [checkOf(() => new Promise(() => undefined)), always(fine, 'EveryNodeReady')] });
    await fixture.clock.advance(29_000);
    expect(fixture.conditions('a')).toEqual([]);
    await fixture.clock.advance(2_000);
    expect(fixture.conditions('a').map((one) => [one.type, one.status, one.reason, one.message])).toEqual([
      [
        type,
        'Unknown',
        'ConditionCheckError',
        'failed to execute 1 health check: the check did not finish within 30s.',
      ],
      ['EveryNodeReady', 'True', 'HealthCheckSuccessful', 'All health checks successful'],
    ]);
  });

  it('do not run twice at the same time for the same object', async () => {
    fixture.addWorker('a');
    let running = 0;
    let most = 0;
    const slow = checkOf(async () => {
      running += 1;
      most = Math.max(most, running);
      await fixture.clock.sleep(29_000, new AbortController().signal);
      running -= 1;
      return fine;
    });
    fixture.setFaults(({ method }) => (method === 'PATCH' ? { delayMs: 10_000 } : undefined));
    fixture.start({ checks: [slow], concurrency: 5 });
    await fixture.clock.advance(300_000);
    expect(most).toBe(1);
    expect(fixture.conditions('a')).toMatchObject([{ status: 'True' }]);
  });
});

describe('a seed that does not respond', () => {
  it('gets a request each period, and one warning', async () => {
    fixture.addWorker('a');
    fixture.setFaults(() => 'reset');
    fixture.start({ checks: [always(fine)] });
    await fixture.clock.advance(300_000);
    expect(fixture.requests.total({ verb: 'list' })).toBe(11);
    expect(fixture.log.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
      'warn extension objects could not be listed',
    ]);
    fixture.setFaults(undefined);
    await fixture.clock.advance(30_000);
    expect(fixture.log.map(({ msg }) => msg).slice(1)).toEqual([
      'extension objects can be listed again',
      'condition written',
    ]);
  });

  it('for longer than a period does not pile up requests', async () => {
    fixture.addWorker('a');
    fixture.setFaults(() => 'drop');
    fixture.start({ checks: [always(fine)] });
    await fixture.clock.advance(300_000);
    expect(fixture.requests.total()).toBe(11);
  });

  it('with the Cluster makes the conditions Unknown, and leaves those of others', async () => {
    const theirs = { type: 'Theirs', status: 'True', extra: { deep: [1] } };
    fixture.addWorker('a', { status: { conditions: [theirs] } });
    fixture.start({ checks: [always(fine), always(fine, 'EveryNodeReady')] });
    await fixture.clock.advance(10_000);
    fixture.setFaults(({ path }) =>
      path.includes('/clusters/') ? { status: 500, message: 'etcd is away' } : undefined,
    );
    await fixture.clock.advance(120_000);
    const unknown = {
      status: 'Unknown',
      reason: 'ConditionCheckError',
      message: expect.stringMatching(
        /^unable to execute any health check: GET .*\/clusters\/a: 500 .*etcd is away/,
      ) as unknown,
    };
    expect(fixture.conditions('a')).toEqual([
      theirs,
      expect.objectContaining({ type, ...unknown }),
      expect.objectContaining({ type: 'EveryNodeReady', ...unknown }),
    ]);
    expect(patches()).toBe(2);
    expect(fixture.log.filter(({ level }) => level === 'warn').map(({ msg }) => msg)).toEqual([
      'health checks could not be run',
    ]);
    fixture.setFaults(undefined);
    await fixture.clock.advance(30_000);
    expect(fixture.conditions('a').map(({ status }) => status)).toEqual(['True', 'True', 'True']);
  });

  it('without the Cluster gets a warning', async () => {
    fixture.addWorker('a');
    fixture.seed.store.remove(simKinds.Cluster, { name: 'a' });
    fixture.start({ checks: [always(fine)] });
    await fixture.clock.advance(10_000);
    expect(fixture.conditions('a')).toMatchObject([{ status: 'Unknown', reason: 'ConditionCheckError' }]);
  });
});

describe('a lasting failure', () => {
  it('is logged once per object, and again for a new object', async () => {
    const logged = () => fixture.log.filter(({ level }) => level === 'warn').map(({ namespace }) => namespace);
    fixture.setFaults(({ path }) => (path.includes('/clusters/') ? { status: 500 } : undefined));
    fixture.addWorker('a');
    fixture.addWorker('b');
    fixture.start({ checks: [always(fine)] });
    await fixture.clock.advance(120_000);
    expect(logged()).toEqual(['a', 'b']);
    fixture.seed.store.remove(workerKind, { namespace: 'a', name: 'worker' });
    await fixture.clock.advance(60_000);
    fixture.addWorker('a');
    await fixture.clock.advance(60_000);
    expect(logged()).toEqual(['a', 'b', 'a']);
  });
});

describe('a seed that responds slowly', () => {
  const failures = () =>
    fixture.log.filter(({ msg }) => msg === 'health checks could not be run').map(({ error }) => textOf(error));
  const textOf = (error: unknown): unknown => (error as { readonly message: unknown }).message;

  it('has half a period to respond, so that the checks have the other half', async () => {
    fixture.addWorker('a');
    fixture.setFaults(({ path }) => (path.includes('/clusters/') ? 'drop' : undefined));
    fixture.start({ checks: [always(fine)] });
    await fixture.clock.advance(14_000);
    expect(failures()).toEqual([]);
    await fixture.clock.advance(2_000);
    expect(failures()).toHaveLength(1);
  });

  it('delays a run by at most two periods', async () => {
    fixture.addWorker('a');
    const slow = { delayMs: 14_000 };
    fixture.setFaults(({ method, path }) => {
      if (method === 'PATCH') return { ...slow, then: { status: 409 } };
      return path.endsWith('/workers/worker') ? slow : undefined;
    });
    fixture.start({ checks: [always(fine)] });
    await fixture.clock.advance(59_000);
    expect(failures()).toEqual([]);
    await fixture.clock.advance(2_000);
    expect(failures()).toEqual(['the run did not finish within 1m0s']);
  });
});

describe('the shoot client', () => {
  const onShoot = (conditionType: string): HealthCheck =>
    checkOf(async ({ shoot }) => {
      await shoot();
      return fine;
    }, conditionType);

  it('is created once per run for all checks, and closed at its end', async () => {
    fixture.addWorker('a');
    fixture.start({ checks: [onShoot('A'), onShoot('B'), always(fine)] });
    await fixture.clock.advance(10_000);
    expect([fixture.connected, fixture.closed]).toEqual([['a'], ['a']]);
    await fixture.clock.advance(30_000);
    expect([fixture.connected, fixture.closed]).toEqual([
      ['a', 'a'],
      ['a', 'a'],
    ]);
  });

  it('is not created unless a check needs it', async () => {
    fixture.addWorker('a');
    fixture.start({ checks: [always(fine)] });
    await fixture.clock.advance(60_000);
    expect(fixture.connected).toEqual([]);
  });

  it('that cannot connect fails only the checks that need it, with one attempt', async () => {
    fixture.addWorker('a');
    let attempts = 0;
    const connectShoot = () => {
      attempts += 1;
      return Promise.reject(new Error('no kubeconfig'));
    };
    fixture.start({ checks: [onShoot('A'), onShoot('B'), always(fine, 'C')], connectShoot });
    await fixture.clock.advance(10_000);
    expect(fixture.conditions('a').map(({ status, message }) => `${status} ${message}`)).toEqual([
      'Unknown failed to execute 1 health check: no kubeconfig.',
      'Unknown failed to execute 1 health check: no kubeconfig.',
      'True All health checks successful',
    ]);
    expect(attempts).toBe(1);
  });

  it('without a way to connect fails the checks that need it', async () => {
    fixture.addWorker('a');
    fixture.start({ checks: [onShoot('A')], connectShoot: undefined });
    await fixture.clock.advance(10_000);
    expect(fixture.conditions('a')[0]?.message).toBe(
      'failed to execute 1 health check: there is no connectShoot to reach the shoot.',
    );
  });

  it('that connects too late is aborted, and closed if it connects nevertheless', async () => {
    fixture.addWorker('a');
    let heard = false;
    let finish = (): void => undefined;
    let closed = 0;
    const connectShoot = (_: string, signal: AbortSignal) =>
      new Promise<never>((resolve) => {
        signal.addEventListener('abort', () => {
          heard = true;
        });
        finish = () => resolve({ client: {}, close: () => (closed += 1) } as unknown as never);
      });
    fixture.start({ checks: [onShoot('A')], connectShoot });
    await fixture.clock.advance(31_000);
    expect([heard, closed]).toEqual([true, 0]);
    finish();
    await fixture.clock.settle();
    expect(closed).toBe(1);
  });
});

describe('stopping', () => {
  it('aborts the runs, writes nothing more and leaves no timer', async () => {
    fixture.addWorker('a');
    let aborted = false;
    const slow = checkOf(async ({ signal }) => {
      await fixture.clock.sleep(20_000, signal).catch(() => {
        aborted = true;
      });
      return fine;
    });
    fixture.start({ checks: [slow] });
    await fixture.clock.advance(10_000);
    await fixture.stop();
    expect([aborted, patches(), fixture.clock.pending]).toEqual([true, 0, 0]);
    expect(fixture.log).toEqual([]);
  });
});

describe('the end', () => {
  it('waits for the runs and their connections', async () => {
    const { clock, seed } = fixture;
    const steps: string[] = [];
    const stop = new AbortController();
    const connection = { client: createKubeClient({ kube: seed, clock }), close: () => void steps.push('closed') };
    const hanging = checkOf(async ({ shoot }) => {
      await shoot();
      return new Promise(() => undefined);
    });
    fixture.addWorker('a');
    const running = runHealthChecks(
      {
        ...{ clock, seed: connection.client, logger: createRecordingLogger() },
        ...{ kind: 'Worker', type: 'local', checks: [hanging] },
        connectShoot: async () => connection,
      },
      stop.signal,
    ).then(() => steps.push('ended'));
    await clock.advance(5_000);
    stop.abort();
    await running;
    expect(steps).toEqual(['closed', 'ended']);
  });
});

describe('invalid options', () => {
  it.each([
    [{ checks: [] }, 'health checks: checks must not be empty'],
    [{ checks: [always(fine, '')] }, 'health checks: a check has an empty conditionType'],
    [
      { checks: [always(fine), always(fine, 'APIServerAvailable')] },
      'health checks: gardener takes APIServerAvailable from no extension: no check may have this conditionType',
    ],
    [
      { checks: [always(fine)], conditionTypesToRemove: ['Old', type] },
      'health checks: conditionTypesToRemove has ControlPlaneHealthy, which a check has as well',
    ],
    [{ checks: [always(fine)], classes: [] }, 'health checks: classes must not be empty'],
    [{ checks: [always(fine)], syncPeriodMs: 0 }, 'health checks: syncPeriodMs must be greater than 0, is 0'],
    [
      { checks: [always(fine)], syncPeriodMs: Number.NaN },
      'health checks: syncPeriodMs must be greater than 0, is NaN',
    ],
    [
      { checks: [always(fine)], concurrency: 0 },
      'health checks: concurrency must be a whole number of at least 1, is 0',
    ],
  ])('%j', async (options, problem) => {
    fixture.start(options);
    await expect(fixture.stop()).rejects.toThrow(new RangeError(problem));
    fixture = new HealthCheckFixture();
  });
});
