import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import {
  type HealthCheckRig,
  backupEntryKind,
  createHealthCheckRig,
  workerKind,
} from '../../simulator/harness/healthcheck-rig.ts';
import type { CheckResult, HealthCheck } from '../../src/healthcheck/check.ts';
import { runHealthChecks } from '../../src/healthcheck/controller.ts';
import { createKubeClient } from '../../src/kubernetes/client/client.ts';
import { createRecordingLogger } from '../doubles/recording-logger.ts';

const type = 'ControlPlaneHealthy';
const fine: CheckResult = { status: 'True' };
const checkOf = (check: HealthCheck['check'], conditionType = type): HealthCheck => ({ conditionType, check });
const always = (result: CheckResult, conditionType = type): HealthCheck => checkOf(async () => result, conditionType);

/** The virtual clock starts here. */
const start = '2026-01-01T00:00:00Z';
const at = (seconds: number): string =>
  new Date(Date.parse(start) + seconds * 1_000).toISOString().replace('.000Z', 'Z');
const patches = () => rig.requests.total({ verb: 'patch', resource: 'workers/status' });

let rig: HealthCheckRig;
beforeEach(() => {
  rig = createHealthCheckRig();
});
afterEach(() => rig.stop());

describe('conditions', () => {
  it('are written at once, and again only when they differ', async () => {
    let result: CheckResult = fine;
    rig.addWorker('a');
    rig.start({ checks: [checkOf(async () => result)] });
    await rig.clock.advance(10_000);
    const written = {
      type,
      status: 'True',
      reason: 'HealthCheckSuccessful',
      message: 'All health checks successful',
      lastTransitionTime: at(0),
      lastUpdateTime: at(0),
    };
    expect(rig.conditions('a')).toEqual([written]);
    await rig.clock.advance(290_000);
    expect([rig.conditions('a'), patches()]).toEqual([[written], 1]);

    result = { status: 'False', detail: 'csi is down', codes: ['ERR_CONFIGURATION_PROBLEM'] };
    await rig.clock.advance(60_000);
    const unsuccessful = {
      type,
      status: 'False',
      reason: 'HealthCheckUnsuccessful',
      message: 'csi is down.',
      codes: ['ERR_CONFIGURATION_PROBLEM'],
      lastTransitionTime: at(330),
      lastUpdateTime: at(330),
    };
    expect([rig.conditions('a'), patches()]).toEqual([[unsuccessful], 2]);

    result = { status: 'False', detail: 'csi is down, and so is cni', codes: [] };
    await rig.clock.advance(60_000);
    const { codes: _, ...changed } = unsuccessful;
    expect(rig.conditions('a')).toEqual([
      { ...changed, message: 'csi is down, and so is cni.', lastUpdateTime: at(390) },
    ]);

    result = fine;
    await rig.clock.advance(60_000);
    expect(rig.conditions('a')).toEqual([{ ...written, lastTransitionTime: at(450), lastUpdateTime: at(450) }]);
    expect(patches()).toBe(4);
  });

  it('are one per type', async () => {
    rig.addWorker('a');
    rig.start({
      checks: [
        always({ status: 'False', detail: 'first' }),
        always(fine, 'EveryNodeReady'),
        always({ status: 'False', detail: 'second' }),
      ],
    });
    await rig.clock.advance(10_000);
    expect(rig.conditions('a').map((one) => [one.type, one.status, one.message])).toEqual([
      [type, 'False', '1) first. 2) second.'],
      ['EveryNodeReady', 'True', 'All health checks successful'],
    ]);
    expect(patches()).toBe(1);
  });

  it("leave others' as they are, in their places", async () => {
    const theirs = { type: 'Theirs', status: 'True', extra: { deep: [1] } };
    const old = { type, status: 'False', reason: 'R', message: 'M', codes: ['ERR_A'], lastTransitionTime: start };
    rig.addWorker('a', { status: { conditions: [old, theirs], lastOperation: { type: 'Reconcile' } } });
    rig.start({ checks: [always(fine), always(fine, 'EveryNodeReady')] });
    await rig.clock.advance(10_000);
    const [first, second, third] = rig.conditions('a');
    expect([first?.type, first?.status, third?.type]).toEqual([type, 'True', 'EveryNodeReady']);
    expect(second).toEqual(theirs);
    expect(rig.seed.store.get(workerKind, { namespace: 'a', name: 'worker' })?.status).toMatchObject({
      lastOperation: { type: 'Reconcile' },
    });
  });

  it('progress within the threshold, then are False until all is well', async () => {
    let result: CheckResult = fine;
    rig.addWorker('a');
    rig.start({ checks: [checkOf(async () => result)] });
    await rig.clock.advance(45_000);
    result = { status: 'Progressing', detail: 'machines come', progressingThresholdMs: 60_000 };
    const seen: string[] = [];
    for (let period = 0; period < 5; period += 1) {
      await rig.clock.advance(30_000);
      seen.push(
        rig
          .conditions('a')
          .map((one) => `${one.status} ${one.reason} ${one.lastTransitionTime}`)
          .join(),
      );
    }
    const moving = `Progressing HealthCheckProgressing ${at(60)}`;
    const stuck = `False HealthCheckUnsuccessful ${at(150)}`;
    expect(seen).toEqual([moving, moving, moving, stuck, stuck]);
    result = fine;
    await rig.clock.advance(30_000);
    expect(rig.conditions('a')[0]?.status).toBe('True');
  });

  it('of a hibernated shoot are True without a check', async () => {
    let runs = 0;
    rig.addWorker('a');
    rig.hibernate('a', true);
    const check = checkOf(async () => {
      runs += 1;
      return { status: 'False', detail: 'down' };
    });
    rig.start({ checks: [check, { ...check, conditionType: 'EveryNodeReady' }] });
    await rig.clock.advance(60_000);
    const asleep = { status: 'True', reason: 'HealthCheckSuccessful', message: 'Shoot is hibernated' };
    expect(rig.conditions('a')).toMatchObject([
      { type, ...asleep },
      { type: 'EveryNodeReady', ...asleep },
    ]);
    expect([runs, patches()]).toEqual([0, 1]);
    rig.hibernate('a', false);
    await rig.clock.advance(30_000);
    expect(rig.conditions('a')).toMatchObject([{ status: 'False' }, { status: 'False' }]);
  });
});

describe('objects', () => {
  it('of another type are not checked', async () => {
    rig.addWorker('a', { type: 'aws' });
    rig.addWorker('b');
    rig.start({ checks: [always(fine)] });
    await rig.clock.advance(60_000);
    expect([rig.conditions('a'), rig.conditions('b').length]).toEqual([[], 1]);
  });

  it.each([
    ['to be migrated', { metadata: { annotations: { 'gardener.cloud/operation': 'migrate' } } }],
    ['migrated', { status: { lastOperation: { type: 'Migrate', state: 'Succeeded' } } }],
  ])('that are %s are not checked', async (_, object) => {
    rig.addWorker('a', object);
    rig.start({ checks: [always(fine)] });
    await rig.clock.advance(60_000);
    expect([rig.conditions('a'), rig.requests.total({ resource: 'clusters' })]).toEqual([[], 0]);
  });

  it('that are being deleted are not checked', async () => {
    rig.addWorker('a', { metadata: { finalizers: ['x'] } });
    rig.seed.store.delete(workerKind, { namespace: 'a', name: 'worker' });
    rig.start({ checks: [always(fine)] });
    await rig.clock.advance(60_000);
    expect([rig.conditions('a'), rig.requests.total({ resource: 'clusters' })]).toEqual([[], 0]);
  });

  it('without a namespace belong to the shoot in their name', async () => {
    rig.hibernate('shoot--dev--one', false);
    const name = 'shoot--dev--one--2f1d-4a';
    rig.seed.store.put(backupEntryKind, { metadata: { name }, spec: { type: 'local' } });
    const looked: string[] = [];
    const check = checkOf(async ({ extension, shoot }) => {
      await shoot();
      looked.push(extension.controlPlane);
      return fine;
    });
    rig.start({ kind: 'BackupEntry', checks: [check] });
    await rig.clock.advance(10_000);
    expect(rig.seed.store.get(backupEntryKind, { name })?.status).toMatchObject({
      conditions: [{ type, status: 'True' }],
    });
    expect([looked, rig.connected]).toEqual([['shoot--dev--one'], ['shoot--dev--one']]);
    rig.hibernate('shoot--dev--one', true);
    await rig.clock.advance(30_000);
    expect(rig.seed.store.get(backupEntryKind, { name })?.status).toMatchObject({
      conditions: [{ type, status: 'True', message: 'Shoot is hibernated' }],
    });
  });

  it('that are created later are checked, and deleted ones are not', async () => {
    rig.start({ checks: [always(fine)] });
    await rig.clock.advance(45_000);
    rig.addWorker('a');
    await rig.clock.advance(30_000);
    expect(rig.conditions('a')).toHaveLength(1);
    rig.seed.store.remove(workerKind, { namespace: 'a', name: 'worker' });
    const before = rig.requests.total({ resource: 'clusters' });
    await rig.clock.advance(60_000);
    expect(rig.requests.total({ resource: 'clusters' })).toBe(before);
  });

  it('that are deleted during their check are no failure', async () => {
    rig.addWorker('a');
    const remove = checkOf(async () => {
      rig.seed.store.remove(workerKind, { namespace: 'a', name: 'worker' });
      return fine;
    });
    rig.start({ checks: [remove] });
    await rig.clock.advance(60_000);
    expect(rig.log.filter(({ level }) => level !== 'info')).toEqual([]);
  });

  it('are checked up to `concurrency` at a time, and all of them each period', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    for (const name of names) rig.addWorker(name);
    let running = 0;
    let most = 0;
    const runs: string[] = [];
    const slow = checkOf(async ({ extension, signal }) => {
      running += 1;
      most = Math.max(most, running);
      await rig.clock.sleep(5_000, signal);
      running -= 1;
      runs.push(extension.meta.namespace);
      return fine;
    });
    rig.start({ checks: [slow], concurrency: 2 });
    await rig.clock.advance(29_000);
    expect([most, runs.toSorted()]).toEqual([2, names]);
    await rig.clock.advance(30_000);
    expect(runs).toHaveLength(14);
  });
});

describe('a Cluster that is watched', () => {
  const down: CheckResult = { status: 'False', detail: 'down' };

  it('starts a check at once when its shoot hibernates or wakes up', async () => {
    rig.addWorker('a');
    rig.addWorker('b');
    let runs = 0;
    const check = checkOf(async () => {
      runs += 1;
      return down;
    });
    rig.start({ checks: [check], watches: true });
    await rig.clock.advance(35_000);
    expect([runs, rig.conditions('a')[0]?.status]).toEqual([4, 'False']);
    rig.hibernate('a', true);
    await rig.clock.advance(100);
    expect(rig.conditions('a')).toMatchObject([{ status: 'True', message: 'Shoot is hibernated' }]);
    rig.hibernate('a', false);
    await rig.clock.advance(100);
    expect([runs, rig.conditions('a')[0]?.status, rig.conditions('b')[0]?.status]).toEqual([5, 'False', 'False']);
  });

  it('starts another check after the one that runs when it changes', async () => {
    rig.addWorker('a');
    const slow = checkOf(async ({ signal }) => {
      await rig.clock.sleep(5_000, signal);
      return down;
    });
    rig.start({ checks: [slow], watches: true });
    await rig.clock.advance(2_000);
    rig.hibernate('a', true);
    await rig.clock.advance(4_000);
    expect(rig.conditions('a')).toMatchObject([{ status: 'True', message: 'Shoot is hibernated' }]);
  });

  it('ends the writes when its control plane moves to another seed', async () => {
    rig.addWorker('a');
    rig.start({ checks: [always(fine)], watches: true });
    await rig.clock.advance(35_000);
    const before = rig.requests.total({ verb: 'get', resource: 'workers' });
    rig.editWorker('a', (worker) => ({
      ...worker,
      metadata: { ...worker.metadata, annotations: { 'gardener.cloud/operation': 'migrate' } },
    }));
    rig.editShoot('a', { status: { lastOperation: { type: 'Migrate' } } });
    await rig.clock.advance(100);
    expect([rig.requests.total({ verb: 'get', resource: 'workers' }) - before, patches()]).toEqual([1, 1]);
  });

  it('starts no check when anything else changes', async () => {
    rig.addWorker('a');
    let runs = 0;
    const check = checkOf(async () => {
      runs += 1;
      return fine;
    });
    rig.start({ checks: [check], watches: true });
    await rig.clock.advance(10_000);
    rig.editShoot('a', { status: { lastOperation: { type: 'Reconcile', progress: 7 } } });
    await rig.clock.advance(10_000);
    expect(runs).toBe(1);
  });

  it('is not watched for classes without Clusters', async () => {
    rig.start({ checks: [always(fine)], classes: ['garden', 'seed'], watches: true });
    await rig.clock.advance(10_000);
    expect(rig.requests.total({ resource: 'clusters' })).toBe(0);
  });
});

describe('classes of extensions', () => {
  const checked = async (options: Partial<Parameters<HealthCheckRig['start']>[0]>) => {
    for (const ofClass of ['garden', 'seed', 'shoot', 'later']) rig.addWorker(ofClass, { class: ofClass });
    rig.addWorker('unset');
    rig.start({ checks: [always(fine)], ...options });
    await rig.clock.advance(10_000);
    return ['garden', 'seed', 'shoot', 'later', 'unset'].filter((one) => rig.conditions(one).length > 0);
  };

  it.each([
    ['shoot where nothing is said', {}, ['shoot', 'unset']],
    ['seed', { classes: ['seed'] }, ['seed']],
    ['garden and shoot', { classes: ['garden', 'shoot'] }, ['garden', 'shoot', 'unset']],
  ] as const)('%s', async (_, options, names) => {
    expect(await checked(options)).toEqual(names);
  });

  it('other than shoot have neither Cluster nor shoot, and do not hibernate', async () => {
    rig.addWorker('a', { class: 'seed' });
    rig.hibernate('a', true);
    const seen: unknown[] = [];
    const check = checkOf(async ({ cluster, shoot }) => {
      seen.push(cluster, await shoot().catch((error: unknown) => (error instanceof Error ? error.message : error)));
      return fine;
    });
    rig.start({ checks: [check], classes: ['seed'] });
    await rig.clock.advance(10_000);
    expect(seen).toEqual([undefined, 'an extension of class seed has no shoot']);
    expect([rig.requests.total({ resource: 'clusters' }), rig.connected]).toEqual([0, []]);
    expect(rig.conditions('a')).toMatchObject([{ message: 'All health checks successful' }]);
  });
});

describe('predicates', () => {
  it('that are false skip the object', async () => {
    for (const name of ['a', 'b', 'c']) rig.addWorker(name, { metadata: { labels: { name } } });
    rig.start({
      checks: [always(fine)],
      predicates: [({ meta }) => meta.labels.name !== 'a', ({ controlPlane }) => controlPlane !== 'c'],
    });
    await rig.clock.advance(60_000);
    expect(['a', 'b', 'c'].map((name) => rig.conditions(name).length)).toEqual([0, 1, 0]);
  });

  it('that throw are logged, and do not delay other objects', async () => {
    rig.addWorker('a');
    rig.addWorker('b');
    const predicate = ({ meta }: { readonly meta: { readonly namespace: string } }) => {
      if (meta.namespace === 'a') throw new Error('a bug');
      return true;
    };
    rig.start({ checks: [always(fine)], predicates: [predicate] });
    await rig.clock.advance(60_000);
    expect(['a', 'b'].map((name) => rig.conditions(name).length)).toEqual([0, 1]);
    expect(rig.log.filter(({ level }) => level === 'warn')).toMatchObject([
      { msg: 'health checks could not be run', namespace: 'a' },
    ]);
  });
});

describe('conditionTypesToRemove', () => {
  const condition = (conditionType: string) => ({ type: conditionType, status: 'False', reason: 'R', message: 'M' });

  it('are removed, and other conditions stay', async () => {
    const theirs = { ...condition('Theirs'), extra: { deep: [1] } };
    rig.addWorker('a', { status: { conditions: [condition('Old'), theirs, condition('Older')] } });
    rig.start({ checks: [always(fine)], conditionTypesToRemove: ['Old', 'Older', 'Oldest'] });
    await rig.clock.advance(60_000);
    expect(rig.conditions('a')).toEqual([theirs, expect.objectContaining({ type, status: 'True' })]);
    expect(patches()).toBe(1);
  });

  it('are removed even if nothing else differs, the shoot hibernates, or no check can run', async () => {
    const put = (namespace: string) =>
      rig.editWorker(namespace, (worker) => ({
        ...worker,
        status: { conditions: [...rig.conditions(namespace), condition('Old')] },
      }));
    rig.addWorker('a');
    rig.addWorker('asleep');
    rig.hibernate('asleep', true);
    rig.addWorker('unread');
    rig.setFaults(({ path }) => (path.endsWith('/clusters/unread') ? { status: 500 } : undefined));
    rig.start({ checks: [always(fine)], conditionTypesToRemove: ['Old'] });
    await rig.clock.advance(10_000);
    const names = ['a', 'asleep', 'unread'];
    const before = names.map((name) => rig.conditions(name));
    names.forEach(put);
    await rig.clock.advance(30_000);
    expect(names.map((name) => rig.conditions(name))).toEqual(before);
  });
});

describe('another client that writes the object', () => {
  const touch = (namespace: string, conditions: readonly object[]) =>
    rig.editWorker(namespace, (worker) => ({ ...worker, status: { ...(worker.status as object), conditions } }));

  it('causes a conflict: conditions are made from what is stored then, and checks do not run twice', async () => {
    rig.addWorker('a', { status: { conditions: [] } });
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
    rig.start({ checks: [check] });
    await rig.clock.advance(10_000);
    // A new condition would be Progressing; the stored False stays.
    expect(rig.conditions('a')).toMatchObject([theirs, { type, status: 'False', message: 'machines come.' }]);
    expect([runs, patches(), rig.requests.total({ verb: 'get', resource: 'workers' })]).toEqual([1, 2, 1]);
  });

  it('with the same conditions leaves nothing to write', async () => {
    rig.addWorker('a');
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
    rig.start({ checks: [check] });
    await rig.clock.advance(10_000);
    expect([patches(), rig.conditions('a')[0]?.lastUpdateTime]).toEqual([1, start]);
  });

  it('by a delete ends the run', async () => {
    rig.addWorker('a', { metadata: { finalizers: ['x'] } });
    const check = checkOf(async () => {
      rig.seed.store.delete(workerKind, { namespace: 'a', name: 'worker' });
      return fine;
    });
    rig.start({ checks: [check] });
    await rig.clock.advance(10_000);
    expect([patches(), rig.conditions('a')]).toEqual([1, []]);
  });

  it('by a replacement ends the run: the new object has its own', async () => {
    rig.addWorker('a');
    let runs = 0;
    const check = checkOf(async () => {
      runs += 1;
      if (runs > 1) return fine;
      rig.seed.store.remove(workerKind, { namespace: 'a', name: 'worker' });
      rig.addWorker('a');
      return { status: 'False', detail: 'of the former one' };
    });
    rig.start({ checks: [check] });
    await rig.clock.advance(10_000);
    expect(rig.conditions('a')).toEqual([]);
    await rig.clock.advance(30_000);
    expect(rig.conditions('a')).toMatchObject([{ status: 'True' }]);
  });

  it('all the time gets five attempts per period', async () => {
    rig.addWorker('a');
    rig.setFaults(({ method }) => (method === 'PATCH' ? { status: 409 } : undefined));
    rig.start({ checks: [always(fine)] });
    await rig.clock.advance(10_000);
    expect([patches(), rig.log.map(({ msg }) => msg)]).toEqual([5, ['health checks could not be run']]);
    rig.setFaults(undefined);
    await rig.clock.advance(30_000);
    expect([rig.conditions('a').length, rig.log.at(-1)?.msg]).toEqual([1, 'health checks run again']);
  });

  it('does not get two writes if the answer is lost', async () => {
    rig.addWorker('a');
    let lost = 0;
    rig.setFaults(({ method }) => {
      if (method !== 'PATCH') return undefined;
      lost += 1;
      return lost === 1 ? { afterWrite: 'reset' } : undefined;
    });
    rig.start({ checks: [always(fine)] });
    await rig.clock.advance(300_000);
    expect([patches(), rig.conditions('a')[0]?.lastUpdateTime]).toEqual([1, start]);
  });
});

describe('checks that hang', () => {
  it('are Unknown after one period, the others as they are', async () => {
    rig.addWorker('a');
    rig.start({ checks: [checkOf(() => new Promise(() => undefined)), always(fine, 'EveryNodeReady')] });
    await rig.clock.advance(29_000);
    expect(rig.conditions('a')).toEqual([]);
    await rig.clock.advance(2_000);
    expect(rig.conditions('a').map((one) => [one.type, one.status, one.reason, one.message])).toEqual([
      [
        type,
        'Unknown',
        'ConditionCheckError',
        'failed to execute 1 health check: the check did not finish within 30s.',
      ],
      ['EveryNodeReady', 'True', 'HealthCheckSuccessful', 'All health checks successful'],
    ]);
  });

  it('do not run a second time for the same object meanwhile', async () => {
    rig.addWorker('a');
    let running = 0;
    let most = 0;
    const slow = checkOf(async () => {
      running += 1;
      most = Math.max(most, running);
      await rig.clock.sleep(29_000, new AbortController().signal);
      running -= 1;
      return fine;
    });
    rig.setFaults(({ method }) => (method === 'PATCH' ? { delayMs: 10_000 } : undefined));
    rig.start({ checks: [slow], concurrency: 5 });
    await rig.clock.advance(300_000);
    expect(most).toBe(1);
    expect(rig.conditions('a')).toMatchObject([{ status: 'True' }]);
  });
});

describe('a seed that does not answer', () => {
  it('gets a request each period, and one warning', async () => {
    rig.addWorker('a');
    rig.setFaults(() => 'reset');
    rig.start({ checks: [always(fine)] });
    await rig.clock.advance(300_000);
    expect(rig.requests.total({ verb: 'list' })).toBe(11);
    expect(rig.log.map(({ level, msg }) => `${level} ${msg}`)).toEqual(['warn extension objects could not be listed']);
    rig.setFaults(undefined);
    await rig.clock.advance(30_000);
    expect(rig.log.map(({ msg }) => msg).slice(1)).toEqual([
      'extension objects can be listed again',
      'condition written',
    ]);
  });

  it('for longer than a period does not pile up requests', async () => {
    rig.addWorker('a');
    rig.setFaults(() => 'drop');
    rig.start({ checks: [always(fine)] });
    await rig.clock.advance(300_000);
    expect(rig.requests.total()).toBe(11);
  });

  it('for the Cluster makes the conditions Unknown, and leaves those of others', async () => {
    const theirs = { type: 'Theirs', status: 'True', extra: { deep: [1] } };
    rig.addWorker('a', { status: { conditions: [theirs] } });
    rig.start({ checks: [always(fine), always(fine, 'EveryNodeReady')] });
    await rig.clock.advance(10_000);
    rig.setFaults(({ path }) => (path.includes('/clusters/') ? { status: 500, message: 'etcd is away' } : undefined));
    await rig.clock.advance(120_000);
    const unknown = {
      status: 'Unknown',
      reason: 'ConditionCheckError',
      message: expect.stringMatching(
        /^unable to execute any health check: GET .*\/clusters\/a: 500 .*etcd is away/,
      ) as unknown,
    };
    expect(rig.conditions('a')).toEqual([
      theirs,
      expect.objectContaining({ type, ...unknown }),
      expect.objectContaining({ type: 'EveryNodeReady', ...unknown }),
    ]);
    expect(patches()).toBe(2);
    expect(rig.log.filter(({ level }) => level === 'warn').map(({ msg }) => msg)).toEqual([
      'health checks could not be run',
    ]);
    rig.setFaults(undefined);
    await rig.clock.advance(30_000);
    expect(rig.conditions('a').map(({ status }) => status)).toEqual(['True', 'True', 'True']);
  });

  it('without the Cluster gets a warning', async () => {
    rig.addWorker('a');
    rig.seed.store.remove(simKinds.Cluster, { name: 'a' });
    rig.start({ checks: [always(fine)] });
    await rig.clock.advance(10_000);
    expect(rig.conditions('a')).toMatchObject([{ status: 'Unknown', reason: 'ConditionCheckError' }]);
  });
});

describe('a lasting failure', () => {
  it('is logged once per object, and again for a new object', async () => {
    const told = () => rig.log.filter(({ level }) => level === 'warn').map(({ namespace }) => namespace);
    rig.setFaults(({ path }) => (path.includes('/clusters/') ? { status: 500 } : undefined));
    rig.addWorker('a');
    rig.addWorker('b');
    rig.start({ checks: [always(fine)] });
    await rig.clock.advance(120_000);
    expect(told()).toEqual(['a', 'b']);
    rig.seed.store.remove(workerKind, { namespace: 'a', name: 'worker' });
    await rig.clock.advance(60_000);
    rig.addWorker('a');
    await rig.clock.advance(60_000);
    expect(told()).toEqual(['a', 'b', 'a']);
  });
});

describe('a seed that answers slowly', () => {
  const failures = () =>
    rig.log.filter(({ msg }) => msg === 'health checks could not be run').map(({ error }) => textOf(error));
  const textOf = (error: unknown): unknown => (error as { readonly message: unknown }).message;

  it('has half a period, so that the checks have theirs', async () => {
    rig.addWorker('a');
    rig.setFaults(({ path }) => (path.includes('/clusters/') ? 'drop' : undefined));
    rig.start({ checks: [always(fine)] });
    await rig.clock.advance(14_000);
    expect(failures()).toEqual([]);
    await rig.clock.advance(2_000);
    expect(failures()).toHaveLength(1);
  });

  it('delays a run by two periods at most', async () => {
    rig.addWorker('a');
    const slow = { delayMs: 14_000 };
    rig.setFaults(({ method, path }) => {
      if (method === 'PATCH') return { ...slow, then: { status: 409 } };
      return path.endsWith('/workers/worker') ? slow : undefined;
    });
    rig.start({ checks: [always(fine)] });
    await rig.clock.advance(59_000);
    expect(failures()).toEqual([]);
    await rig.clock.advance(2_000);
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
    rig.addWorker('a');
    rig.start({ checks: [onShoot('A'), onShoot('B'), always(fine)] });
    await rig.clock.advance(10_000);
    expect([rig.connected, rig.closed]).toEqual([['a'], ['a']]);
    await rig.clock.advance(30_000);
    expect([rig.connected, rig.closed]).toEqual([
      ['a', 'a'],
      ['a', 'a'],
    ]);
  });

  it('is not created unless a check needs it', async () => {
    rig.addWorker('a');
    rig.start({ checks: [always(fine)] });
    await rig.clock.advance(60_000);
    expect(rig.connected).toEqual([]);
  });

  it('that cannot connect fails only the checks that need it, with one attempt', async () => {
    rig.addWorker('a');
    let attempts = 0;
    const connectShoot = () => {
      attempts += 1;
      return Promise.reject(new Error('no kubeconfig'));
    };
    rig.start({ checks: [onShoot('A'), onShoot('B'), always(fine, 'C')], connectShoot });
    await rig.clock.advance(10_000);
    expect(rig.conditions('a').map(({ status, message }) => `${status} ${message}`)).toEqual([
      'Unknown failed to execute 1 health check: no kubeconfig.',
      'Unknown failed to execute 1 health check: no kubeconfig.',
      'True All health checks successful',
    ]);
    expect(attempts).toBe(1);
  });

  it('without a way to connect fails the checks that need it', async () => {
    rig.addWorker('a');
    rig.start({ checks: [onShoot('A')], connectShoot: undefined });
    await rig.clock.advance(10_000);
    expect(rig.conditions('a')[0]?.message).toBe(
      'failed to execute 1 health check: there is no connectShoot to reach the shoot.',
    );
  });

  it('that connects too late is aborted, and closed if it connects all the same', async () => {
    rig.addWorker('a');
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
    rig.start({ checks: [onShoot('A')], connectShoot });
    await rig.clock.advance(31_000);
    expect([heard, closed]).toEqual([true, 0]);
    finish();
    await rig.clock.settle();
    expect(closed).toBe(1);
  });
});

describe('stopping', () => {
  it('aborts the runs, writes nothing more and leaves no timer', async () => {
    rig.addWorker('a');
    let aborted = false;
    const slow = checkOf(async ({ signal }) => {
      await rig.clock.sleep(20_000, signal).catch(() => {
        aborted = true;
      });
      return fine;
    });
    rig.start({ checks: [slow] });
    await rig.clock.advance(10_000);
    await rig.stop();
    expect([aborted, patches(), rig.clock.pending]).toEqual([true, 0, 0]);
    expect(rig.log).toEqual([]);
  });
});

describe('the end', () => {
  it('waits for the runs and their connections', async () => {
    const { clock, seed } = rig;
    const steps: string[] = [];
    const stop = new AbortController();
    const connection = { client: createKubeClient({ kube: seed, clock }), close: () => void steps.push('closed') };
    const hanging = checkOf(async ({ shoot }) => {
      await shoot();
      return new Promise(() => undefined);
    });
    rig.addWorker('a');
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
    rig.start(options);
    await expect(rig.stop()).rejects.toThrow(new RangeError(problem));
    rig = createHealthCheckRig();
  });
});
