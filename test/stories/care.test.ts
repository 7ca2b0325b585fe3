import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { careSeedKinds, extensionKinds } from '../../simulator/apiserver/care-kinds.ts';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { formatMicroTime, formatTime } from '../../simulator/apiserver/time.ts';
import { gardenNamespace } from '../../simulator/harness/care-fixture.ts';
import { careKinds } from '../../simulator/harness/care-kinds.ts';
import type { WorldShoot } from '../../simulator/world/shoot.ts';
import { ApiError } from '../../src/kubernetes/api/errors.ts';
import { CareStory, inSpec, inStatus, theirs, types } from './support/care-story.ts';

let story: CareStory;
beforeEach(() => {
  story = new CareStory();
});
afterEach(() => story.stop());

const threshold = { conditionThresholds: [{ type: 'ControlPlaneHealthy', duration: 150_000 } as const] };

describe('a healthy shoot', () => {
  it('gets one write of its conditions and one of its labels, and then no other', async () => {
    const shoot = story.addShoot('a');
    story.start();
    await story.minutes(10);
    expect(story.conditions(shoot).map(({ type, message }) => [type, message])).toEqual([
      ['APIServerAvailable', 'API server /healthz endpoint responded with success status code. [response_time:0ms]'],
      ['ControlPlaneHealthy', 'All control plane components are healthy.'],
      ['ObservabilityComponentsHealthy', 'All observability components are healthy.'],
      ['EveryNodeReady', 'All nodes are ready.'],
      ['SystemComponentsHealthy', 'All system components are healthy.'],
    ]);
    expect(story.isWell(shoot)).toBe(true);
    expect(story.labels(shoot)).toEqual({
      'shoot.gardener.cloud/status': 'healthy',
      'shoot.garden.sapcloud.io/status': 'healthy',
    });
    expect([...story.requests.garden.byKey].filter(([key]) => key.startsWith('patch'))).toEqual([
      ['patch shoots/status', 1],
      ['patch shoots', 1],
    ]);
    expect(story.tunnelled[0]).toEqual({ namespace: 'kube-system', pod: 'vpn-shoot-0', port: 22 });
    expect(story.logged(/^condition changed$/)).toHaveLength(5);
    expect(await story.metrics()).toMatch(/^dwd_care_runs_total\{outcome="unchanged"\} 9$/m);
  });

  it.each([
    [
      'without workers',
      inSpec({ provider: { workers: [] } }),
      types.filter((it) => it !== 'EveryNodeReady'),
      ['get /healthz'],
    ],
    ['that hibernates', inSpec({ hibernation: { enabled: true } }), types, []],
  ])('%s has these conditions and gets these requests', async (_, edit, present, requests) => {
    const shoot = story.addShoot('a', 0);
    story.editShoot(shoot, edit);
    story.editCluster(shoot, edit);
    story.start();
    await story.minutes(2);
    expect(story.conditions(shoot).map(({ type, status }) => [type, status])).toEqual(
      present.map((it) => [it, 'True']),
    );
    expect([...story.requests.shoot('a').byKey.keys()]).toEqual(requests);
  });
});

describe('a failure', () => {
  it('is Progressing within its threshold, then False, and True when the shoot is healthy again', async () => {
    const shoot = story.addShoot('a');
    story.start({ settings: threshold });
    await story.minutes(5);
    story.available(shoot, false);
    const seen: unknown[] = [];
    for (let minute = 0; minute < 6; minute += 1) {
      if (minute === 4) story.available(shoot, true);
      await story.minutes(1);
      const labels = Object.values(story.labels(shoot) ?? {});
      seen.push([story.condition(shoot, 'ControlPlaneHealthy')?.status, ...labels]);
    }
    const progressing = ['Progressing', 'progressing', 'progressing'];
    const healthy = ['True', 'healthy', 'healthy'];
    expect(seen).toEqual([
      ...[progressing, progressing, progressing],
      ...[['False', 'unhealthy', 'unhealthy'], healthy, healthy],
    ]);
    expect(story.changes()).toEqual(['True', 'Progressing', 'False', 'True']);
    const series = (await story.metrics()).match(/^dwd_care_condition\{.*ControlPlaneHealthy.*$/gm);
    expect(series).toEqual([
      `dwd_care_condition{namespace="${shoot.namespace}",condition="ControlPlaneHealthy",status="True"} 1`,
    ]);
  });

  it.each([
    ['without a garden', { withoutGarden: true }],
    ['in a dry run', { dryRun: true }],
  ])('%s is Progressing and then False too, and nothing is written', async (_, options) => {
    const shoot = story.addShoot('a');
    const briefly = { conditionThresholds: [{ type: 'ControlPlaneHealthy', duration: 60_000 } as const] };
    story.start({ ...options, settings: briefly });
    await story.minutes(1);
    story.available(shoot, false);
    // Without a garden, reports of extensions count for five minutes.
    await story.minutes(3.5);
    expect([story.changes(), story.gardenWrites()]).toEqual([['True', 'Progressing', 'False'], 0]);
  });

  it('in an outage shows the silent nodes, and then the scale-down by the prober', async () => {
    const shoot = story.addShoot('a', 10);
    story.scenario.startProber();
    story.start({ settings: { syncPeriod: 10_000 } });
    await story.minutes(3);
    expect(story.isWell(shoot)).toBe(true);
    shoot.cutKubelets();
    await story.clock.runUntil(() => story.condition(shoot, 'EveryNodeReady')?.status === 'False');
    expect(story.condition(shoot, 'EveryNodeReady')?.reason).toBe('TooManyExpiredNodeLeases');
    await story.clock.runUntil(() => story.condition(shoot, 'ControlPlaneHealthy')?.reason === 'ControllersScaledDown');
    expect(story.label(shoot)).toBe('unhealthy');
  });
});

describe('an observation finds', () => {
  const pod = { namespace: 'kube-system', name: 'vpn-shoot-0' };
  const broken = (error: string) => ({
    status: 'False',
    reason: 'TunnelConnectionBroken',
    message: `Tunnel connection has not been established (${error})`,
  });
  const unchecked = (message: string) => ({ status: 'Unknown', reason: 'ConditionCheckError', message });
  const noPod = broken('no running vpn-shoot pod found yet in the shoot cluster');
  const failing =
    (path: string, fault: { status: number; message: string }) =>
    (shoot: WorldShoot): void =>
      story.setFaults(shoot, (request) => (request.path === path ? fault : undefined));
  const nodesForbidden =
    'nodes is forbidden: User "x" cannot list resource "nodes" in API group "" at the cluster scope';
  const mayNotForward = 'GET /portforward: 403 Forbidden: pods "vpn-shoot-0" is forbidden:';

  it.each<[what: string, type: string, condition: object, arrange: (shoot: WorldShoot) => void]>([
    [
      'an API server scaled to 0',
      'EveryNodeReady',
      unchecked('Shoot control plane is not running at the moment.'),
      ({ namespace }) =>
        void story.seed.store.patch(
          simKinds.Deployment,
          { namespace, name: 'kube-apiserver' },
          inSpec({ replicas: 0 }),
        ),
    ],
    [
      'an API server that is deleted',
      'APIServerAvailable',
      { status: 'False', reason: 'APIServerDown' },
      ({ namespace }) => {
        const ref = { namespace, name: 'kube-apiserver' };
        const finalizers = ['test/keep'];
        story.seed.store.patch(simKinds.Deployment, ref, (object) => ({
          ...object,
          metadata: { ...object.metadata, finalizers },
        }));
        story.seed.store.delete(simKinds.Deployment, ref);
      },
    ],
    [
      'a shoot without a kubeconfig',
      'SystemComponentsHealthy',
      unchecked(
        'Could not initialize Shoot client for health check: there is no Secret shoot--sim--a/shoot-access-dependency-watchdog-probe with a key "kubeconfig"',
      ),
      ({ namespace }) =>
        story.seed.store.remove(simKinds.Secret, { namespace, name: 'shoot-access-dependency-watchdog-probe' }),
    ],
    [
      'an API server that responds but is not healthy',
      'APIServerAvailable',
      {
        status: 'False',
        reason: 'HealthzRequestFailed',
        message: expect.stringMatching(
          /^Request to API server .* \[response_time:0ms\] \(GET \/healthz: 500 /,
        ) as string,
      },
      failing('/healthz', { status: 500, message: 'no' }),
    ],
    [
      'that it may not list nodes',
      'EveryNodeReady',
      unchecked(`GET /api/v1/nodes: 403 Forbidden: ${nodesForbidden}`),
      failing('/api/v1/nodes', { status: 403, message: nodesForbidden }),
    ],
    [
      'a tunnel that is not established within 5 s',
      'SystemComponentsHealthy',
      broken('no connection to port 22 of pod kube-system/vpn-shoot-0 within 5s'),
      () => story.hangTunnels(),
    ],
    [
      'a tunnel that does not run',
      'SystemComponentsHealthy',
      noPod,
      ({ store }) => void store.patch(simKinds.Pod, pod, inStatus({ phase: 'Pending' })),
    ],
    [
      'another tunnel',
      'SystemComponentsHealthy',
      noPod,
      ({ store }) =>
        void store.patch(simKinds.Pod, pod, (object) => ({
          ...object,
          metadata: { ...object.metadata, labels: { type: 'tunnel', app: 'konnectivity' } },
        })),
    ],
    [
      'no tunnel',
      'SystemComponentsHealthy',
      { status: 'False', reason: 'NoTunnelDeployed' },
      ({ store }) => store.remove(simKinds.Pod, pod),
    ],
    [
      'that it may not try the tunnel',
      'SystemComponentsHealthy',
      unchecked(`${mayNotForward} (a tunnel needs the rights to get and create pods/portforward in kube-system)`),
      () => {
        story.tunnel = () => Promise.reject(new ApiError({ code: 'Forbidden', status: 403, message: mayNotForward }));
      },
    ],
  ])('%s', async (_, type, condition, arrange) => {
    const shoot = story.addShoot('a');
    arrange(shoot);
    story.start();
    await story.minutes(2);
    expect(story.condition(shoot, type)).toMatchObject(condition);
    expect(story.condition(shoot, 'ControlPlaneHealthy')?.status).toBe('True');
  });

  it('an API server that does not respond, which gets no further request', async () => {
    const shoot = story.addShoot('a');
    story.setFaults(shoot, () => 'drop');
    story.start();
    await story.minutes(2);
    expect(story.problems(shoot).map(({ type, reason }) => [type, reason])).toEqual([
      ['APIServerAvailable', 'HealthzRequestFailed'],
      ['EveryNodeReady', 'ConditionCheckError'],
      ['SystemComponentsHealthy', 'ConditionCheckError'],
    ]);
    expect([...story.requests.shoot('a').byKey.keys()]).toEqual(['get /healthz']);
  });

  it('ManagedResources that were never listed', async () => {
    const shoot = story.addShoot('a');
    const path = '/apis/resources.gardener.cloud/v1alpha1/managedresources';
    story.setFaults('seed', (request) => (request.path === path ? { status: 403, message: 'no' } : undefined));
    story.start();
    await story.minutes(5);
    const message = `Failed listing ManagedResources: GET ${path}: 403 Forbidden: no`;
    const reason = 'ManagedResourceListingFailed';
    expect(story.conditions(shoot)).toMatchObject(types.map((type) => ({ type, status: 'False', reason, message })));
  });

  it.each([
    ['', 'open'],
    [', of a seed that did not respond at first', 'refused'],
  ] as const)('nothing wrong while a list of ManagedResources takes 45 s%s', async (_, reachability) => {
    const shoots = ['a', 'b', 'c', 'd', 'e'].map((name) => story.addShoot(name));
    story.setFaults('seed', ({ path, query }) =>
      path.endsWith('/managedresources') && query?.watch === undefined ? { delayMs: 45_000 } : undefined,
    );
    story.seed.api.setReachability(reachability);
    story.start();
    await story.minutes(3);
    story.seed.api.setReachability('open');
    await story.minutes(3);
    expect(shoots.every((shoot) => story.isWell(shoot))).toBe(true);
    expect(new Set(story.changes())).toEqual(new Set(['True']));
  });

  it('that it has not seen a kind for more than 90 s', async () => {
    const shoot = story.addShoot('a');
    story.start();
    await story.minutes(2);
    const path = '/apis/druid.gardener.cloud/v1alpha1/etcds';
    await story.loseWatch(path);
    await story.minutes(3);
    expect(story.problems(shoot)).toMatchObject([
      { type: 'ControlPlaneHealthy', ...unchecked(`GET ${path}: 500 ServerError: no webhook`) },
    ]);
    story.setFaults('seed', undefined);
    await story.minutes(2);
    expect(story.isWell(shoot)).toBe(true);
  });
});

describe('a Cluster that cannot be checked', () => {
  const unreadable = inSpec({ provider: { workers: 'none' } });
  const problem = 'the Cluster cannot be read: spec.shoot.spec.provider.workers: expected a list, found a string';

  it('at the start has no conditions, and its shoot is checked when it can be read', async () => {
    const [shoot, other] = [story.addShoot('a'), story.addShoot('b')];
    story.editCluster(shoot, unreadable);
    story.start();
    await story.minutes(5);
    expect([story.conditions(shoot), story.isWell(other)]).toEqual([[], true]);
    expect(await story.metrics()).toMatch(/^dwd_care_runs_total\{outcome="unreadable"\} [45]$/m);
    story.editCluster(shoot, inSpec({ provider: { workers: [{ name: 'worker' }] } }));
    await story.minutes(2);
    expect([story.isWell(shoot), story.logged(/^trouble is over$/).length]).toEqual([true, 1]);
  });

  it.each<[what: string, problem: string, breakIt: (shoot: WorldShoot) => void]>([
    ['that cannot be decoded', problem, (shoot) => story.editCluster(shoot, unreadable)],
    [
      'whose check has a bug',
      'unexpected error: undefined is not a function',
      () => {
        story.tunnel = () => Promise.reject(new TypeError('undefined is not a function'));
      },
    ],
  ])('%s has its own conditions Unknown, and keeps those of others', async (_, message, breakIt) => {
    const shoot = story.addShoot('a');
    const cluster = { name: shoot.namespace };
    story.start();
    await story.minutes(2);
    const spec = story.seed.store.get(simKinds.Cluster, cluster)?.spec;
    story.editShoot(shoot, inStatus({ conditions: [theirs, ...story.conditions(shoot)] }));
    breakIt(shoot);
    await story.minutes(5);
    const unknown = { status: 'Unknown', reason: 'ConditionCheckError', message };
    expect(story.conditions(shoot)).toMatchObject([theirs, ...types.map((type) => ({ type, ...unknown }))]);
    expect(await story.metrics()).not.toMatch(/^dwd_care_condition\{.*status="True"/m);
    const writes = story.gardenWrites();
    await story.minutes(5);
    expect(story.gardenWrites()).toBe(writes);
    story.tunnel = async () => undefined;
    story.seed.store.patch(simKinds.Cluster, cluster, (object) => ({ ...object, spec }));
    await story.minutes(2);
    expect(story.problems(shoot)).toEqual([]);
  });
});

describe('extensions', () => {
  const condition = { type: 'SystemComponentsHealthy', reason: 'R', message: 'csi is down.' };
  const report = (shoot: WorldShoot, kind: string, name: string, status: string) => {
    const sim = extensionKinds.get(kind);
    if (sim === undefined) throw new Error(`there is no kind ${kind}`);
    const lastUpdateTime = formatTime(story.clock.now());
    story.seed.store.put(sim, {
      metadata: { name, ...(sim.namespaced ? { namespace: shoot.namespace } : {}) },
      spec: { type: 'local' },
      status: { conditions: [{ ...condition, status, lastUpdateTime }] },
    });
  };
  const register = (kind: string) =>
    story.garden.store.put(careKinds.ControllerRegistration, {
      metadata: { name: 'local' },
      spec: {
        resources: [
          { kind: 'Other', type: 'local' },
          { kind, type: 'local' },
        ],
      },
    });
  const install = (seed = 'simulated') =>
    story.garden.store.put(careKinds.ControllerInstallation, {
      metadata: { name: `local-${seed}` },
      spec: { registrationRef: { name: 'local' }, seedRef: { name: seed } },
    });
  const beat = () =>
    story.seed.store.put(simKinds.Lease, {
      metadata: { namespace: 'extension-local-simulated', name: 'gardener-extension-heartbeat' },
      spec: { renewTime: formatMicroTime(story.clock.now()) },
    });
  const system = (shoot: WorldShoot) => story.condition(shoot, 'SystemComponentsHealthy');

  it('count while their heartbeat is fresh', async () => {
    const shoot = story.addShoot('a');
    register('Worker');
    install();
    beat();
    report(shoot, 'Worker', 'worker', 'False');
    story.start();
    await story.minutes(2);
    expect(system(shoot)).toMatchObject({ status: 'False', reason: 'WorkerUnhealthyReport', message: 'csi is down.' });
    report(shoot, 'Worker', 'worker', 'True');
    await story.minutes(2);
    expect(system(shoot)?.status).toBe('True');
    await story.minutes(3);
    expect(system(shoot)).toMatchObject({ status: 'Unknown', reason: 'WorkerOutdatedHealthCheckReport' });
    beat();
    await story.minutes(2);
    expect(system(shoot)?.status).toBe('True');
  });

  it.each<[missing: string, arrange: () => void]>([
    ['no ControllerRegistration for Network and type "local"', () => install()],
    [
      'no ControllerInstallation of local for the seed simulated',
      () => {
        register('Network');
        install('elsewhere');
      },
    ],
    [
      'no heartbeat in Lease extension-local-simulated/gardener-extension-heartbeat',
      () => {
        register('Network');
        install();
      },
    ],
  ])('with %s affect only the conditions that they report', async (missing, arrange) => {
    const [shoot, other] = [story.addShoot('a'), story.addShoot('b')];
    report(shoot, 'Network', 'calico', 'True');
    arrange();
    story.start();
    await story.minutes(2);
    const message = `Network extension (${shoot.namespace}/calico) reports an outdated health status (${missing} was found).`;
    const outdated = { status: 'Unknown', reason: 'NetworkOutdatedHealthCheckReport', message };
    expect(story.problems(shoot)).toMatchObject([{ type: condition.type, ...outdated }]);
    expect(story.isWell(other)).toBe(true);
  });

  it('include the BackupEntry of the shoot, and no other', async () => {
    const [shoot, other] = [story.addShoot('a'), story.addShoot('b')];
    register('BackupEntry');
    install();
    beat();
    report(shoot, 'BackupEntry', `${shoot.namespace}--uid-of-a`, 'False');
    report(other, 'BackupEntry', `${other.namespace}--uid-of-somebody`, 'False');
    story.start();
    await story.minutes(2);
    expect([system(shoot)?.reason, system(other)?.status]).toEqual(['BackupEntryUnhealthyReport', 'True']);
  });

  it('of a kind that the seed does not serve do not exist', async () => {
    const unserved = new Set<unknown>([extensionKinds.get('BackupEntry'), extensionKinds.get('Network')]);
    story = new CareStory(careSeedKinds.filter((kind) => !unserved.has(kind)));
    const shoot = story.addShoot('a');
    story.start();
    await story.minutes(2);
    expect(story.isWell(shoot)).toBe(true);
    const checks = story.care.checks();
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    const detailed = checks.filter(({ detail }) => detail !== undefined);
    expect(detailed.map(({ name }) => name)).toEqual(['networks', 'backupentries']);
    const names = ['clusters', 'secrets', 'leases', 'controllerregistrations', 'controllerinstallations'];
    expect(checks.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
  });

  it('are not blamed for a heartbeat that care could not see', async () => {
    const shoot = story.addShoot('a');
    story.start();
    await story.minutes(2);
    await story.loseWatch('/apis/coordination.k8s.io/v1/leases');
    await story.minutes(10);
    expect(story.isWell(shoot)).toBe(true);
  });
});

describe('the Shoot in the garden', () => {
  it('is written again after a conflict, after the conditions of others as they are stored then, and has the status of the worst', async () => {
    const shoot = story.addShoot('a');
    let interfered = 0;
    story.setFaults('garden', ({ path }) => {
      if (!path.endsWith('/status') || interfered === 3) return undefined;
      interfered += 1;
      story.editShoot(shoot, inStatus({ conditions: [{ ...theirs, status: 'False', extra: interfered }] }));
      return undefined;
    });
    story.start();
    await story.minutes(1);
    const own = types.map((type) => ({ type, status: 'True' }));
    expect(story.conditions(shoot)).toMatchObject([{ ...theirs, status: 'False', extra: 3 }, ...own]);
    expect(story.label(shoot)).toBe('unhealthy');
    // The checks did not run again.
    expect(story.runs(shoot)).toBeLessThanOrEqual(2);
    expect(story.logged(/could not be written/)).toEqual([]);
  });

  it('is judged as it is stored after a conflict, because the failure may be pardoned by then', async () => {
    const shoot = story.addShoot('a');
    story.available(shoot, false);
    let interfered = false;
    story.setFaults('garden', ({ path }) => {
      if (!path.endsWith('/status') || interfered) return undefined;
      interfered = true;
      story.editShoot(shoot, inStatus({ lastOperation: { type: 'Reconcile', state: 'Processing' } }));
      return undefined;
    });
    story.start();
    await story.minutes(1);
    expect(story.condition(shoot, 'ControlPlaneHealthy')?.status).toBe('Progressing');
  });

  const writtenBy = (shoot: WorldShoot, manager: string): void => {
    const key = 'k:{"type":"EveryNodeReady"}';
    const fieldsV1 = { 'f:status': { 'f:conditions': { [key]: { 'f:type': {}, 'f:lastTransitionTime': {} } } } };
    const time = formatTime(story.clock.now());
    const condition = { type: 'EveryNodeReady', status: 'Unknown', lastTransitionTime: time };
    story.editShoot(shoot, inStatus({ conditions: [condition] }));
    story.setWriters(shoot, [{ manager, operation: 'Update', subresource: 'status', time, fieldsV1 }]);
  };

  it('is not written while gardenlet writes it', async () => {
    const [shoot, other] = [story.addShoot('a'), story.addShoot('b')];
    writtenBy(shoot, 'gardenlet');
    story.start();
    await story.minutes(4);
    expect([story.conditions(shoot).length, story.label(shoot), story.isWell(other)]).toEqual([1, undefined, true]);
    expect(story.logged(/^left alone: gardenlet writes these conditions/)).toHaveLength(1);
    expect(story.logged(/^condition changed$/)).toHaveLength(10);
    await story.minutes(4);
    expect([story.isWell(shoot), story.logged(/^trouble is over$/).length]).toEqual([true, 1]);
  });

  it('is written ever more rarely beside a gardenlet that writes back what it found', async () => {
    const shoot = story.addShoot('a');
    story.start();
    for (let minute = 0; minute < 120; minute += 1) {
      await story.minutes(1);
      if (story.condition(shoot, 'EveryNodeReady')?.status === 'True') writtenBy(shoot, 'gardenlet');
    }
    // At first, and after 20 and 80 minutes.
    expect(story.logged(/^left alone: gardenlet writes these conditions/)).toHaveLength(3);
  });

  it('that has moved to another seed is not written', async () => {
    const shoot = story.addShoot('a');
    story.editShoot(shoot, inStatus({ seedName: 'other' }));
    story.start();
    await story.minutes(3);
    expect(story.conditions(shoot)).toEqual([]);
    expect(story.logged(/^not written: the Shoot is on seed other now$/)).toHaveLength(1);
    story.editShoot(shoot, inStatus({ seedName: 'simulated' }));
    await story.minutes(2);
    expect(story.isWell(shoot)).toBe(true);
  });

  it('that is deleted causes one warning, and its checks continue', async () => {
    const shoot = story.addShoot('a');
    story.garden.store.remove(careKinds.Shoot, { namespace: gardenNamespace, name: 'a' });
    story.start();
    await story.minutes(6);
    expect(story.logged(/^there is no such Shoot in the garden$/)).toHaveLength(1);
    expect(story.runs(shoot)).toBeGreaterThan(4);
    expect(await story.metrics()).toMatch(/^dwd_care_runs_total\{outcome="gone"\} [67]$/m);
  });
});

describe('checks', () => {
  it('run at once only when an operation changes from Processing to Succeeded', async () => {
    const shoot = story.addShoot('a');
    story.start({ settings: { syncPeriod: 3_600_000 } });
    await story.minutes(61);
    const seen: number[] = [];
    for (const state of ['Failed', 'Succeeded', 'Pending', 'Succeeded', 'Processing', 'Succeeded']) {
      const before = story.runs(shoot);
      story.editCluster(shoot, inStatus({ lastOperation: { type: 'Reconcile', state } }));
      await story.clock.advance(1_000);
      seen.push(story.runs(shoot) - before);
    }
    expect(seen).toEqual([0, 0, 0, 0, 0, 1]);
  });

  it('start with a new Cluster, and end with it', async () => {
    story.start();
    await story.minutes(1);
    const shoot = story.addShoot('a');
    await story.minutes(2);
    expect(story.isWell(shoot)).toBe(true);
    expect(await story.metrics()).toContain(shoot.namespace);
    story.seed.store.remove(simKinds.Cluster, { name: shoot.namespace });
    await story.minutes(1);
    const before = story.requests.shoot('a').total();
    await story.minutes(5);
    expect(story.requests.shoot('a').total()).toBe(before);
    expect(await story.metrics()).not.toContain(shoot.namespace);
  });

  it('of many shoots read only from the shoots and the garden, and write only differences', async () => {
    const count = 20;
    const shoots = Array.from({ length: count }, (_, index) => story.addShoot(`s${String(index)}`, 3));
    story.start();
    await story.minutes(2);
    expect(shoots.every((shoot) => story.isWell(shoot))).toBe(true);
    const sum = (of: (shoot: WorldShoot) => number) => shoots.reduce((total, shoot) => total + of(shoot), 0);
    const all = ({ name }: WorldShoot) => story.requests.shoot(name).total();
    const runs = (shoot: WorldShoot) => story.runs(shoot);
    const before = { requests: sum(all), runs: sum(runs) };
    story.requests.seed.reset();
    story.requests.garden.reset();
    await story.minutes(4);
    const made = sum(runs) - before.runs;
    expect(Math.abs(made - 4 * count)).toBeLessThanOrEqual(1);
    const { garden, seed } = story.requests;
    expect({
      perRun: { shoot: (sum(all) - before.requests) / made, garden: garden.total({ verb: 'get' }) / made },
      written: story.gardenWrites(),
      inSeed: seed.total() - seed.total({ verb: 'watch' }),
    }).toEqual({ perRun: { shoot: 4, garden: 1 }, written: 0, inSeed: 0 });
    const writes = [...story.requests.shoot('s0').byKey.keys()].filter((key) => !/^(get|list) /.test(key));
    expect(writes).toEqual([]);
  });
});

describe('the component', () => {
  it('writes nothing while it does not lead', async () => {
    const shoot = story.addShoot('a');
    story.scenario.mayWrite = false;
    story.start();
    await story.minutes(3);
    expect([story.conditions(shoot), story.gardenWrites()]).toEqual([[], 0]);
    expect(story.logged(/this process may not write it now/).length).toBeGreaterThan(0);
  });

  it('keeps the conditions when the configuration changes', async () => {
    const shoot = story.addShoot('a');
    story.start();
    await story.minutes(2);
    const before = story.conditions(shoot);
    story.reload({ syncPeriod: 10_000 });
    const asked = story.runs(shoot);
    await story.minutes(5);
    expect(story.runs(shoot) - asked).toBeGreaterThanOrEqual(29);
    expect(story.conditions(shoot)).toEqual(before);
    expect([story.logged(/^condition changed$/).length, story.logged(/^taking care of shoots$/).length]).toEqual([
      5, 2,
    ]);
  });

  it('sends nothing after its end, and does not log the checks that its stop aborts', async () => {
    const shoot = story.addShoot('a');
    story.hangTunnels();
    story.start();
    await story.clock.runUntil(() => story.tunnelled.length > 0);
    await story.scenario.end(story.care);
    expect(story.conditions(shoot)).toEqual([]);
    const total = () => story.requests.seed.total() + story.requests.garden.total();
    const before = total();
    await story.minutes(10);
    expect(total()).toBe(before);
    expect(story.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
