import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { formatTime } from '../../simulator/apiserver/time.ts';
import { HealthCheckFixture, backupEntryKind, workerKind } from './support/healthcheck-fixture.ts';
import type { CheckResult, HealthCheck } from '../../src/healthcheck/check.ts';
import { deploymentCheck } from '../../src/healthcheck/object-checks.ts';

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

/** Starts the checks and lets time pass. */
const run = async (options: Parameters<HealthCheckFixture['start']>[0], ms = 10_000): Promise<void> => {
  fixture.start(options);
  await fixture.clock.advance(ms);
};
/** A predicate of a Worker in another namespace. */
const notNamed =
  (name: string) =>
  ({ meta }: { readonly meta: { readonly namespace: string } }): boolean =>
    meta.namespace !== name;
/** Names of the Workers that have conditions. */
const checked = (...names: readonly string[]) => names.filter((name) => fixture.conditions(name).length > 0);

it('conditions are written at once, and again only when they differ', async () => {
  let result: CheckResult = fine;
  fixture.addWorker('a');
  await run({ checks: [checkOf(async () => result)] });
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

  result = fine;
  await fixture.clock.advance(60_000);
  expect(fixture.conditions('a')).toEqual([{ ...written, lastTransitionTime: at(390), lastUpdateTime: at(390) }]);
  expect(patches()).toBe(3);
});

it('the calls of checks have a timeout, without which each would take a new connection, like a watch', async () => {
  const timeouts: unknown[] = [];
  fixture.addWorker('a');
  fixture.setFaults(({ path, timeoutMs }) => {
    if (path.includes('/deployments/')) timeouts.push(timeoutMs);
    return undefined;
  });
  const clusters = ['seed', 'shoot'] as const;
  await run({ checks: clusters.map((cluster) => checkOf(deploymentCheck({ cluster, name: 'csi' }))) });
  expect(timeouts).toEqual([30_000, 30_000]);
});

describe('objects', () => {
  it.each<[what: string, options: object, names: readonly string[]]>([
    ['of the class shoot by default', {}, ['b', 'c', 'unset', 'shoot']],
    ['of the class seed', { classes: ['seed'] }, ['seed']],
    ['of two classes', { classes: ['garden', 'shoot'] }, ['b', 'c', 'unset', 'garden', 'shoot']],
    ['that all predicates accept', { predicates: [notNamed('b'), notNamed('c')] }, ['unset', 'shoot']],
  ])('%s and of the type of the controller are checked', async (_, options, names) => {
    fixture.addWorker('aws', { type: 'aws' });
    for (const name of ['b', 'c', 'unset']) fixture.addWorker(name);
    for (const ofClass of ['garden', 'seed', 'shoot', 'later']) fixture.addWorker(ofClass, { class: ofClass });
    fixture.addWorker('going', { metadata: { finalizers: ['x'] } });
    fixture.seed.store.delete(workerKind, { namespace: 'going', name: 'worker' });
    await run({ checks: [always(fine)], ...options });
    const all = ['aws', 'b', 'c', 'unset', 'garden', 'seed', 'shoot', 'later', 'going'];
    expect(checked(...all)).toEqual(names);
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
    await run({ kind: 'BackupEntry', checks: [check] });
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

  it('that are created later are checked at once, and deleted ones are not', async () => {
    await run({ checks: [always(fine)] }, 45_000);
    fixture.addWorker('a');
    await fixture.clock.advance(100);
    expect(fixture.conditions('a')).toHaveLength(1);
    fixture.seed.store.remove(workerKind, { namespace: 'a', name: 'worker' });
    const before = fixture.requests.total({ verb: 'get', resource: 'clusters' });
    await fixture.clock.advance(60_000);
    expect(fixture.requests.total({ verb: 'get', resource: 'clusters' })).toBe(before);
  });

  it('have a metric until they are deleted or migrated', async () => {
    const series = async (): Promise<readonly string[]> =>
      Array.from((await fixture.metrics()).matchAll(/^dwd_healthcheck_condition\{.*namespace="(\w+)"/gm)).map(
        ([, namespace]) => namespace ?? '',
      );
    for (const name of ['a', 'b', 'c']) fixture.addWorker(name);
    await run({ checks: [always(fine)] });
    expect(await series()).toEqual(['a', 'b', 'c']);
    fixture.seed.store.remove(workerKind, { namespace: 'a', name: 'worker' });
    fixture.editWorker('b', (worker) => ({
      ...worker,
      metadata: { ...worker.metadata, annotations: { 'gardener.cloud/operation': 'migrate' } },
    }));
    await fixture.clock.advance(30_000);
    expect([await series(), patches()]).toEqual([['c'], 3]);
  });

  it('that are deleted during their check cause no failure, and leave no metric', async () => {
    fixture.addWorker('a');
    const remove = checkOf(async () => {
      fixture.seed.store.remove(workerKind, { namespace: 'a', name: 'worker' });
      return fine;
    });
    await run({ checks: [remove] }, 60_000);
    expect(fixture.problems()).toEqual([]);
    expect(await fixture.metrics()).not.toContain('dwd_healthcheck_condition{');
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
    await run({ checks: [slow], concurrency: 2 }, 29_000);
    expect([most, runs.toSorted()]).toEqual([2, names]);
    await fixture.clock.advance(30_000);
    expect(runs).toHaveLength(14);
  });
});

describe('a watched Cluster', () => {
  const down: CheckResult = { status: 'False', detail: 'down' };

  it('triggers a check at once when its shoot hibernates or wakes up, and not when anything else changes', async () => {
    fixture.addWorker('a');
    fixture.addWorker('b');
    let runs = 0;
    const check = checkOf(async () => {
      runs += 1;
      return down;
    });
    await run({ checks: [check] }, 35_000);
    fixture.editShoot('a', { status: { lastOperation: { type: 'Reconcile', progress: 7 } } });
    await fixture.clock.advance(10_000);
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

  it('ends the connection to its shoot when it is deleted', async () => {
    fixture.addWorker('a');
    await run({ checks: [always(fine)] });
    fixture.seed.store.remove(simKinds.Cluster, { name: 'a' });
    await fixture.clock.advance(1_000);
    expect(fixture.forgotten).toEqual(['a']);
  });
});

it('classes of extensions other than shoot have no Cluster and no shoot, and do not hibernate', async () => {
  fixture.addWorker('a', { class: 'seed' });
  fixture.hibernate('a', true);
  const seen: unknown[] = [];
  const check = checkOf(async ({ cluster, shoot }) => {
    seen.push(cluster, await shoot().catch((error: unknown) => (error instanceof Error ? error.message : error)));
    return fine;
  });
  await run({ checks: [check], classes: ['seed'] });
  expect(seen).toEqual([undefined, 'an extension of class seed has no shoot']);
  expect([fixture.requests.total({ verb: 'get', resource: 'clusters' }), fixture.connected]).toEqual([0, []]);
  expect(fixture.conditions('a')).toMatchObject([{ message: 'All health checks successful' }]);
});

it('predicates that throw are logged, and do not delay other objects', async () => {
  fixture.addWorker('a');
  fixture.addWorker('b');
  const predicate = ({ meta }: { readonly meta: { readonly namespace: string } }) => {
    if (meta.namespace === 'a') throw new Error('a bug');
    return true;
  };
  await run({ checks: [always(fine)], predicates: [predicate] }, 60_000);
  expect(['a', 'b'].map((name) => fixture.conditions(name).length)).toEqual([0, 1]);
  expect(fixture.problems()).toMatchObject([{ msg: 'health checks could not be run', namespace: 'a' }]);
});

describe('conditionTypesToRemove', () => {
  const condition = (conditionType: string) => ({ type: conditionType, status: 'False', reason: 'R', message: 'M' });

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
    await run({ checks: [always(fine)], conditionTypesToRemove: ['Old'] });
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
    await run({ checks: [check] });
    // A new condition would be Progressing; the stored False stays.
    expect(fixture.conditions('a')).toMatchObject([theirs, { type, status: 'False', message: 'machines come.' }]);
    expect([runs, patches(), fixture.requests.total({ verb: 'get', resource: 'workers' })]).toEqual([1, 2, 1]);
  });

  it('that deletes it ends the run', async () => {
    fixture.addWorker('a', { metadata: { finalizers: ['x'] } });
    const check = checkOf(async () => {
      fixture.seed.store.delete(workerKind, { namespace: 'a', name: 'worker' });
      return fine;
    });
    await run({ checks: [check] });
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
    await run({ checks: [check] });
    expect([runs, fixture.conditions('a')]).toMatchObject([2, [{ status: 'True' }]]);
  });

  it('is not repeated if the response was lost', async () => {
    fixture.addWorker('a');
    let lost = 0;
    fixture.setFaults(({ method }) => {
      if (method !== 'PATCH') return undefined;
      lost += 1;
      return lost === 1 ? { afterWrite: 'reset' } : undefined;
    });
    await run({ checks: [always(fine)] }, 300_000);
    expect([patches(), fixture.conditions('a')[0]?.lastUpdateTime]).toEqual([1, start]);
  });
});

it('a Cluster that cannot be read makes the conditions Unknown, and leaves those of others', async () => {
  const theirs = { type: 'Theirs', status: 'True', extra: { deep: [1] } };
  fixture.addWorker('a', { status: { conditions: [theirs] } });
  await run({ checks: [always(fine), always(fine, 'EveryNodeReady')] });
  fixture.setFaults(({ path }) => (path.includes('/clusters/') ? { status: 500, message: 'etcd is away' } : undefined));
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
  expect(fixture.problems().map(({ msg }) => msg)).toEqual(['health checks could not be run']);
  fixture.setFaults(undefined);
  await fixture.clock.advance(30_000);
  expect(fixture.conditions('a').map(({ status }) => status)).toEqual(['True', 'True', 'True']);
  expect(fixture.logged('health checks run again')).toHaveLength(1);
});

it('a lasting failure is logged once per object, and again for a new object', async () => {
  const logged = () => fixture.problems().map(({ namespace }) => namespace);
  fixture.setFaults(({ path }) => (path.includes('/clusters/') ? { status: 500 } : undefined));
  fixture.addWorker('a');
  fixture.addWorker('b');
  await run({ checks: [always(fine)] }, 120_000);
  expect(logged()).toEqual(['a', 'b']);
  fixture.seed.store.remove(workerKind, { namespace: 'a', name: 'worker' });
  await fixture.clock.advance(60_000);
  fixture.addWorker('a');
  await fixture.clock.advance(60_000);
  expect(logged()).toEqual(['a', 'b', 'a']);
});

describe('a seed that responds slowly', () => {
  const failures = () => fixture.logged('health checks could not be run').map(({ error }) => textOf(error));
  const textOf = (error: unknown): unknown => (error as { readonly message: unknown }).message;

  it('has half a period to respond, so that the checks have the other half', async () => {
    fixture.addWorker('a');
    fixture.setFaults(({ path }) => (path.includes('/clusters/') ? 'drop' : undefined));
    await run({ checks: [always(fine)] }, 14_000);
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
    await run({ checks: [always(fine)] }, 59_000);
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

  it('is created once per run for all checks; if it cannot connect, only the checks that need it fail', async () => {
    fixture.addWorker('a');
    let attempts = 0;
    const connectShoot = () => {
      attempts += 1;
      return Promise.reject(new Error('no kubeconfig'));
    };
    await run({ checks: [onShoot('A'), onShoot('B'), always(fine, 'C')], connectShoot }, 40_000);
    expect(fixture.conditions('a').map(({ status, message }) => `${status} ${message}`)).toEqual([
      'Unknown failed to execute 1 health check: no kubeconfig.',
      'Unknown failed to execute 1 health check: no kubeconfig.',
      'True All health checks successful',
    ]);
    expect(attempts).toBe(2);
  });
});

it('stopping aborts the runs, writes nothing more and leaves no timer', async () => {
  fixture.addWorker('a');
  let aborted = false;
  const slow = checkOf(async ({ signal }) => {
    await fixture.clock.sleep(20_000, signal).catch(() => {
      aborted = true;
    });
    return fine;
  });
  await run({ checks: [slow] });
  await fixture.stop();
  expect([aborted, patches(), fixture.clock.pending]).toEqual([true, 0, 0]);
  expect(fixture.problems()).toEqual([]);
});
