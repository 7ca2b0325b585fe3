import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { extensionKinds } from '../../simulator/apiserver/care-kinds.ts';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { SimDraft } from '../../simulator/apiserver/store.ts';
import { formatMicroTime, formatTime } from '../../simulator/apiserver/time.ts';
import { careKinds } from '../../simulator/harness/care-kinds.ts';
import { CareFixture, gardenNamespace } from '../../simulator/harness/care-fixture.ts';
import type { StoredCondition } from '../../simulator/harness/healthcheck-fixture.ts';
import type { WorldShoot } from '../../simulator/world/shoot.ts';

const types = [
  'APIServerAvailable',
  'ControlPlaneHealthy',
  'ObservabilityComponentsHealthy',
  'EveryNodeReady',
  'SystemComponentsHealthy',
];

interface StoredShoot {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>>; readonly resourceVersion: string };
  readonly status: { readonly conditions?: readonly StoredCondition[] };
}

let fixture: CareFixture;
beforeEach(() => {
  fixture = new CareFixture();
});
afterEach(() => fixture.stop());

const stored = ({ name }: WorldShoot): StoredShoot =>
  fixture.garden.store.get(careKinds.Shoot, { namespace: gardenNamespace, name }) as unknown as StoredShoot;
const conditionsOf = (shoot: WorldShoot): readonly StoredCondition[] => stored(shoot).status.conditions ?? [];
const conditionOf = (shoot: WorldShoot, type: string): StoredCondition | undefined =>
  conditionsOf(shoot).find((condition) => condition.type === type);
const statusesOf = (shoot: WorldShoot): readonly string[] => conditionsOf(shoot).map(({ status }) => status);
const editShoot = ({ name }: WorldShoot, edit: (shoot: SimDraft) => SimDraft): void =>
  void fixture.garden.store.patch(careKinds.Shoot, { namespace: gardenNamespace, name }, edit);
const editCluster = ({ namespace }: WorldShoot, edit: (shoot: SimDraft) => SimDraft): void =>
  void fixture.seed.store.patch(simKinds.Cluster, { name: namespace }, (cluster) => {
    const { shoot } = cluster.spec as { readonly shoot: SimDraft };
    return { ...cluster, spec: { ...(cluster.spec as object), shoot: edit(shoot) } };
  });
const editDeployment = ({ namespace }: WorldShoot, name: string, edit: (deployment: SimDraft) => SimDraft): void =>
  void fixture.seed.store.patch(simKinds.Deployment, { namespace, name }, edit);
const available = (shoot: WorldShoot, name: string, status: 'True' | 'False'): void => {
  const availableReplicas = status === 'True' ? 1 : 0;
  editDeployment(shoot, name, (deployment) => ({
    ...deployment,
    status: { ...(deployment.status as object), availableReplicas },
  }));
};
const gardenWrites = (): number => fixture.requests.garden.total({ verb: 'patch' });
const minutes = (count: number): Promise<void> => fixture.clock.advance(count * 60_000);
const logged = (msg: RegExp) => fixture.log.filter((line) => msg.test(line.msg));

const healthyMessages = [
  'API server /healthz endpoint responded with success status code. [response_time:0ms]',
  'All control plane components are healthy.',
  'All observability components are healthy.',
  'All nodes are ready.',
  'All system components are healthy.',
];

describe('a healthy shoot', () => {
  it('gets one write of its conditions and one of its labels, and then no other', async () => {
    const shoot = fixture.addShoot('a');
    fixture.start();
    await minutes(10);
    expect(conditionsOf(shoot).map(({ type, status, message }) => [type, status, message])).toEqual(
      types.map((type, index) => [type, 'True', healthyMessages[index]]),
    );
    expect(stored(shoot).metadata.labels).toEqual({
      'shoot.gardener.cloud/status': 'healthy',
      'shoot.garden.sapcloud.io/status': 'healthy',
    });
    expect([...fixture.requests.garden.byKey].filter(([key]) => key.startsWith('patch'))).toEqual([
      ['patch shoots/status', 1],
      ['patch shoots', 1],
    ]);
    expect(fixture.tunnelled[0]).toEqual({ namespace: 'kube-system', pod: 'vpn-shoot-0', port: 22 });
    expect(logged(/^condition changed$/)).toHaveLength(5);
    expect(await fixture.care.meter.metricsText()).toMatch(/^dwd_care_runs_total\{outcome="unchanged"\} 9$/m);
  });

  it('is checked once per sync period', async () => {
    fixture.addShoot('a');
    fixture.start({ settings: { syncPeriod: 30_000 } });
    await minutes(10);
    expect(Math.abs(fixture.requests.shoot('a').total({ resource: '/healthz' }) - 20)).toBeLessThanOrEqual(1);
  });

  it('without workers has no condition of nodes', async () => {
    const shoot = fixture.addShoot('a', 0);
    const workerless = (object: SimDraft): SimDraft => ({
      ...object,
      spec: { ...(object.spec as object), provider: { workers: [] } },
    });
    editShoot(shoot, workerless);
    editCluster(shoot, workerless);
    fixture.start();
    await minutes(2);
    expect(conditionsOf(shoot).map(({ type, status }) => [type, status])).toEqual(
      types.filter((type) => type !== 'EveryNodeReady').map((type) => [type, 'True']),
    );
    expect([...fixture.requests.shoot('a').byKey.keys()]).toEqual(['get /healthz']);
  });

  it('that hibernates gets no request', async () => {
    const shoot = fixture.addShoot('a');
    editShoot(shoot, (object) => ({ ...object, spec: { ...(object.spec as object), hibernation: { enabled: true } } }));
    fixture.start();
    await minutes(3);
    expect(conditionsOf(shoot).map(({ status, reason, message }) => [status, reason, message])).toEqual(
      types.map(() => ['True', 'ConditionNotChecked', 'Shoot cluster has been hibernated.']),
    );
    expect(fixture.requests.shoot('a').total()).toBe(0);
  });
});

describe('a failure', () => {
  it('is Progressing within its threshold, then False, and True when the shoot is healthy again', async () => {
    const shoot = fixture.addShoot('a');
    fixture.start({ settings: { conditionThresholds: [{ type: 'ControlPlaneHealthy', duration: 150_000 }] } });
    await minutes(5);
    available(shoot, 'kube-scheduler', 'False');
    const seen: string[] = [];
    for (let minute = 0; minute < 6; minute += 1) {
      if (minute === 4) available(shoot, 'kube-scheduler', 'True');
      await minutes(1);
      const { status, reason } = conditionOf(shoot, 'ControlPlaneHealthy') ?? {};
      seen.push(
        `${String(status)} ${String(reason)} ${String(stored(shoot).metadata.labels?.['shoot.gardener.cloud/status'])}`,
      );
    }
    const failing = 'DeploymentUnhealthy';
    expect(seen).toEqual([
      `Progressing ${failing} progressing`,
      `Progressing ${failing} progressing`,
      `Progressing ${failing} progressing`,
      `False ${failing} unhealthy`,
      'True ControlPlaneRunning healthy',
      'True ControlPlaneRunning healthy',
    ]);
    const changes = logged(/^condition changed$/).filter(({ condition }) => condition === 'ControlPlaneHealthy');
    expect(changes.map(({ from, status }) => [from, status])).toEqual([
      [undefined, 'True'],
      ['True', 'Progressing'],
      ['Progressing', 'False'],
      ['False', 'True'],
    ]);
    const series = (await fixture.care.meter.metricsText())
      .split('\n')
      .filter((line) => /^dwd_care_condition\{.*ControlPlaneHealthy/.test(line));
    expect(series).toEqual([
      `dwd_care_condition{namespace="${shoot.namespace}",condition="ControlPlaneHealthy",status="True"} 1`,
    ]);
  });

  it('is False at once for a Cluster that was deleted and created again', async () => {
    const shoot = fixture.addShoot('a');
    fixture.start({
      withoutGarden: true,
      settings: { conditionThresholds: [{ type: 'ControlPlaneHealthy', duration: 120_000 }] },
    });
    await minutes(2);
    const cluster = fixture.seed.store.get(simKinds.Cluster, { name: shoot.namespace });
    fixture.seed.store.remove(simKinds.Cluster, { name: shoot.namespace });
    available(shoot, 'kube-scheduler', 'False');
    await minutes(1);
    if (cluster !== undefined) fixture.seed.store.put(simKinds.Cluster, cluster);
    await minutes(1);
    const changes = logged(/^condition changed$/).filter(({ condition }) => condition === 'ControlPlaneHealthy');
    expect(changes.map(({ status }) => status)).toEqual(['True', 'False']);
  });

  it('without a garden is Progressing and then False too, and nothing is written', async () => {
    const shoot = fixture.addShoot('a');
    fixture.start({
      withoutGarden: true,
      settings: { conditionThresholds: [{ type: 'ControlPlaneHealthy', duration: 120_000 }] },
    });
    await minutes(2);
    available(shoot, 'kube-scheduler', 'False');
    await minutes(5);
    const changes = logged(/^condition changed$/).filter(({ condition }) => condition === 'ControlPlaneHealthy');
    expect(changes.map(({ status }) => status)).toEqual(['True', 'Progressing', 'False']);
    expect(fixture.requests.garden.total()).toBe(0);
  });

  it('sets the labels, the legacy pair too, and removes `unhealthy` again', async () => {
    const shoot = fixture.addShoot('a');
    fixture.start();
    available(shoot, 'kube-scheduler', 'False');
    await minutes(2);
    expect(stored(shoot).metadata.labels).toEqual({
      'shoot.gardener.cloud/status': 'unhealthy',
      'shoot.garden.sapcloud.io/status': 'unhealthy',
      'shoot.garden.sapcloud.io/unhealthy': 'true',
    });
    available(shoot, 'kube-scheduler', 'True');
    await minutes(2);
    expect(stored(shoot).metadata.labels).toEqual({
      'shoot.gardener.cloud/status': 'healthy',
      'shoot.garden.sapcloud.io/status': 'healthy',
    });
  });

  it('is Progressing while the shoot is created', async () => {
    const shoot = fixture.addShoot('a');
    const lastOperation = { type: 'Create', state: 'Processing', lastUpdateTime: formatTime(fixture.clock.now()) };
    editShoot(shoot, (object) => ({ ...object, status: { ...(object.status as object), lastOperation } }));
    available(shoot, 'kube-scheduler', 'False');
    fixture.start();
    await minutes(5);
    expect(conditionOf(shoot, 'ControlPlaneHealthy')).toMatchObject({
      status: 'Progressing',
      reason: 'DeploymentUnhealthy',
    });
    expect(stored(shoot).metadata.labels?.['shoot.gardener.cloud/status']).toBe('healthy');
    expect(gardenWrites()).toBe(2);
  });
});

describe('an observation finds', () => {
  it('an API server scaled to 0', async () => {
    const shoot = fixture.addShoot('a');
    editDeployment(shoot, 'kube-apiserver', (deployment) => ({
      ...deployment,
      spec: { ...(deployment.spec as object), replicas: 0 },
    }));
    fixture.start();
    await minutes(2);
    expect(conditionOf(shoot, 'APIServerAvailable')).toMatchObject({ status: 'False', reason: 'APIServerDown' });
    expect(conditionOf(shoot, 'EveryNodeReady')).toMatchObject({
      status: 'Unknown',
      message: 'Shoot control plane is not running at the moment.',
    });
    expect(conditionOf(shoot, 'ControlPlaneHealthy')?.status).toBe('True');
    expect(fixture.requests.shoot('a').total()).toBe(0);
  });

  it('an API server that is deleted', async () => {
    const shoot = fixture.addShoot('a');
    const ref = { namespace: shoot.namespace, name: 'kube-apiserver' };
    const finalizers = ['test/keep'];
    editDeployment(shoot, ref.name, (object) => ({ ...object, metadata: { ...object.metadata, finalizers } }));
    fixture.seed.store.delete(simKinds.Deployment, ref);
    fixture.start();
    await minutes(2);
    expect(conditionOf(shoot, 'APIServerAvailable')?.reason).toBe('APIServerDown');
  });

  it('a shoot without a kubeconfig', async () => {
    const shoot = fixture.addShoot('a');
    fixture.start({ settings: { kubeConfigSecretName: 'other' } });
    await minutes(2);
    expect(conditionOf(shoot, 'SystemComponentsHealthy')?.message).toBe(
      `Could not initialize Shoot client for health check: there is no Secret ${shoot.namespace}/other with a key "kubeconfig"`,
    );
  });

  it('an API server that responds but is not healthy', async () => {
    const shoot = fixture.addShoot('a');
    fixture.setFaults(shoot, ({ path }) => (path === '/healthz' ? { status: 500 } : undefined));
    fixture.start();
    await minutes(2);
    expect(conditionOf(shoot, 'APIServerAvailable')).toMatchObject({
      status: 'False',
      reason: 'HealthzRequestFailed',
    });
    expect(conditionOf(shoot, 'APIServerAvailable')?.message).toMatch(
      /^Request to API server \/healthz endpoint failed\. \[response_time:0ms\] \(.*\)$/,
    );
    expect(statusesOf(shoot).filter((status) => status === 'True')).toHaveLength(4);
  });

  it('another response time in each check, which causes only one write', async () => {
    const shoot = fixture.addShoot('a');
    let delayMs = 0;
    fixture.setFaults(shoot, ({ path }) => (path === '/healthz' ? { delayMs: (delayMs += 7) } : undefined));
    fixture.start();
    await minutes(10);
    expect(conditionOf(shoot, 'APIServerAvailable')?.message).toContain('[response_time:7ms]');
    expect(gardenWrites()).toBe(2);
    expect(logged(/^condition changed$/)).toHaveLength(5);
  });

  it('a tunnel that is not established within 5 s', async () => {
    const shoot = fixture.addShoot('a');
    fixture.tunnel = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    fixture.start();
    await minutes(2);
    expect(conditionOf(shoot, 'SystemComponentsHealthy')).toMatchObject({
      reason: 'TunnelConnectionBroken',
      message:
        'Tunnel connection has not been established (no connection to port 22 of pod kube-system/vpn-shoot-0 within 5s)',
    });
  });

  it('a tunnel that does not run, and a missing one', async () => {
    const shoot = fixture.addShoot('a');
    const pod = { namespace: 'kube-system', name: 'vpn-shoot-0' };
    shoot.store.patch(simKinds.Pod, pod, (object) => ({ ...object, status: { phase: 'Pending' } }));
    fixture.start();
    await minutes(2);
    expect(conditionOf(shoot, 'SystemComponentsHealthy')?.message).toBe(
      'Tunnel connection has not been established (no running vpn-shoot pod found yet in the shoot cluster)',
    );
    const labels = { type: 'tunnel', app: 'konnectivity' };
    shoot.store.patch(simKinds.Pod, pod, (object) => ({
      ...object,
      metadata: { ...object.metadata, labels },
      status: { phase: 'Running' },
    }));
    await minutes(2);
    expect(conditionOf(shoot, 'SystemComponentsHealthy')?.reason).toBe('TunnelConnectionBroken');
    shoot.store.remove(simKinds.Pod, pod);
    await minutes(2);
    expect(conditionOf(shoot, 'SystemComponentsHealthy')?.reason).toBe('NoTunnelDeployed');
    expect(fixture.tunnelled).toEqual([]);
  });

  it('ManagedResources that were never listed', async () => {
    const shoot = fixture.addShoot('a');
    const path = '/apis/resources.gardener.cloud/v1alpha1/managedresources';
    fixture.setFaults('seed', (request) => (request.path === path ? { status: 403, message: 'no' } : undefined));
    fixture.start();
    await minutes(5);
    const message = `Failed listing ManagedResources: GET ${path}: 403 Forbidden: no`;
    expect(conditionsOf(shoot).map((one) => [one.type, one.status, one.reason, one.message])).toEqual(
      types.map((type) => [type, 'False', 'ManagedResourceListingFailed', message]),
    );
  });

  it('a Cluster that cannot be decoded', async () => {
    const shoot = fixture.addShoot('a');
    const other = fixture.addShoot('b');
    editCluster(shoot, (object) => ({ ...object, spec: { provider: { workers: 'none' } } }));
    fixture.start();
    await minutes(5);
    expect(logged(/^the Cluster cannot be read: spec\.shoot\.spec\.provider\.workers/)).toHaveLength(1);
    expect(statusesOf(shoot)).toEqual([]);
    expect(statusesOf(other)).toEqual(types.map(() => 'True'));
    expect(await fixture.care.meter.metricsText()).toMatch(/^dwd_care_runs_total\{outcome="unreadable"\} [45]$/m);
    editCluster(shoot, (object) => ({ ...object, spec: { provider: { workers: [{ name: 'worker' }] } } }));
    await minutes(2);
    expect(logged(/^trouble is over$/)).toHaveLength(1);
    expect(statusesOf(shoot)).toEqual(types.map(() => 'True'));
  });

  describe('a Cluster that cannot be checked', () => {
    const theirs = { type: 'Theirs', status: 'True', extra: { deep: [1] } };
    const breakCluster = (shoot: WorldShoot) =>
      editCluster(shoot, (object) => ({ ...object, spec: { provider: { workers: 'none' } } }));
    const unknown = types.map((type) => ({
      type,
      status: 'Unknown',
      reason: 'ConditionCheckError',
      message: expect.stringMatching(/^the Cluster cannot be read: spec\.shoot\.spec\.provider\.workers/) as unknown,
    }));

    it('has its own conditions Unknown, keeps those of others, and is logged once', async () => {
      const shoot = fixture.addShoot('a');
      fixture.start();
      await minutes(2);
      editShoot(shoot, (object) => ({
        ...object,
        status: { ...(object.status as object), conditions: [theirs, ...conditionsOf(shoot)] },
      }));
      breakCluster(shoot);
      await minutes(5);
      expect(conditionsOf(shoot)).toMatchObject([theirs, ...unknown]);
      expect(conditionsOf(shoot)[0]).toEqual(theirs);
      expect(logged(/^the Cluster cannot be read/)).toHaveLength(1);
      expect(await fixture.care.meter.metricsText()).toContain(
        `dwd_care_condition{namespace="${shoot.namespace}",condition="EveryNodeReady",status="Unknown"} 1`,
      );
      const writes = gardenWrites();
      await minutes(5);
      expect(gardenWrites()).toBe(writes);
      editCluster(shoot, (object) => ({ ...object, spec: { provider: { workers: [{ name: 'worker' }] } } }));
      await minutes(2);
      expect(statusesOf(shoot)).toEqual(['True', ...types.map(() => 'True')]);
    });

    it('because it no longer names its Shoot has them Unknown too', async () => {
      const shoot = fixture.addShoot('a');
      fixture.start();
      await minutes(2);
      fixture.seed.store.patch(simKinds.Cluster, { name: shoot.namespace }, (cluster) => ({ ...cluster, spec: {} }));
      await minutes(2);
      const message = 'the Cluster cannot be read: spec.shoot: expected an object, found nothing';
      expect(conditionsOf(shoot)).toMatchObject(types.map((type) => ({ type, status: 'Unknown', message })));
      expect(await fixture.care.meter.metricsText()).not.toMatch(/^dwd_care_condition\{.*status="True"/m);
    });

    it('because of a bug has them Unknown too, and the bug is logged', async () => {
      const shoot = fixture.addShoot('a');
      fixture.start();
      await minutes(2);
      fixture.tunnel = () => Promise.reject(new TypeError('undefined is not a function'));
      await minutes(2);
      expect(conditionsOf(shoot)).toMatchObject(
        types.map((type) => ({
          type,
          status: 'Unknown',
          reason: 'ConditionCheckError',
          message: 'unexpected error: undefined is not a function',
        })),
      );
      expect(logged(/^unexpected error: this is a bug$/).length).toBeGreaterThan(0);
      fixture.tunnel = async () => undefined;
      await minutes(2);
      expect(statusesOf(shoot)).toEqual(types.map(() => 'True'));
    });
  });
});

describe('extensions', () => {
  const report = (shoot: WorldShoot, kind: string, name: string, status: string) => {
    const sim = extensionKinds.get(kind);
    if (sim === undefined) throw new Error(`there is no kind ${kind}`);
    const condition = { type: 'SystemComponentsHealthy', status, reason: 'R', message: 'csi is down.' };
    fixture.seed.store.put(sim, {
      metadata: { name, ...(sim.namespaced ? { namespace: shoot.namespace } : {}) },
      spec: { type: 'local' },
      status: { conditions: [{ ...condition, lastUpdateTime: formatTime(fixture.clock.now()) }] },
    });
  };
  const register = (kind: string) => {
    const installation = {
      metadata: { name: 'local-x' },
      spec: { registrationRef: { name: 'local' }, seedRef: { name: 'simulated' } },
    };
    fixture.garden.store.put(careKinds.ControllerRegistration, {
      metadata: { name: 'local' },
      spec: { resources: [{ kind, type: 'local' }] },
    });
    fixture.garden.store.put(careKinds.ControllerInstallation, installation);
  };
  const beat = () =>
    fixture.seed.store.put(simKinds.Lease, {
      metadata: { namespace: 'extension-local-x', name: 'gardener-extension-heartbeat' },
      spec: { renewTime: formatMicroTime(fixture.clock.now()) },
    });

  it('count while their heartbeat is fresh', async () => {
    const shoot = fixture.addShoot('a');
    register('Worker');
    beat();
    report(shoot, 'Worker', 'worker', 'False');
    fixture.start();
    await minutes(2);
    expect(conditionOf(shoot, 'SystemComponentsHealthy')).toMatchObject({
      status: 'False',
      reason: 'WorkerUnhealthyReport',
      message: 'csi is down.',
    });
    report(shoot, 'Worker', 'worker', 'True');
    await minutes(2);
    expect(conditionOf(shoot, 'SystemComponentsHealthy')?.status).toBe('True');
    await minutes(3);
    expect(conditionOf(shoot, 'SystemComponentsHealthy')).toMatchObject({
      status: 'Unknown',
      reason: 'WorkerOutdatedHealthCheckReport',
    });
    beat();
    await minutes(2);
    expect(conditionOf(shoot, 'SystemComponentsHealthy')?.status).toBe('True');
  });

  it('without a registration affect only the conditions that they report', async () => {
    const shoot = fixture.addShoot('a');
    const other = fixture.addShoot('b');
    report(shoot, 'Network', 'calico', 'True');
    fixture.start();
    await minutes(2);
    expect(conditionOf(shoot, 'SystemComponentsHealthy')).toMatchObject({
      status: 'Unknown',
      reason: 'NetworkOutdatedHealthCheckReport',
      message: `Network extension (${shoot.namespace}/calico) reports an outdated health status (no ControllerRegistration for Network and type "local" was found).`,
    });
    expect(conditionOf(shoot, 'ControlPlaneHealthy')?.status).toBe('True');
    expect(statusesOf(other)).toEqual(types.map(() => 'True'));
  });

  it('include the BackupEntry of the shoot, and no other', async () => {
    const shoot = fixture.addShoot('a');
    const other = fixture.addShoot('b');
    register('BackupEntry');
    beat();
    report(shoot, 'BackupEntry', `${shoot.namespace}--uid-of-a`, 'False');
    report(other, 'BackupEntry', `${other.namespace}--uid-of-somebody`, 'False');
    fixture.start();
    await minutes(2);
    expect(conditionOf(shoot, 'SystemComponentsHealthy')?.reason).toBe('BackupEntryUnhealthyReport');
    expect(conditionOf(other, 'SystemComponentsHealthy')?.status).toBe('True');
  });
});

describe('the Shoot in the garden', () => {
  const theirs = { type: 'Theirs', status: 'True', extra: { deep: [1] } };

  it('keeps the conditions of others, which come first', async () => {
    const shoot = fixture.addShoot('a');
    editShoot(shoot, (object) => ({ ...object, status: { ...(object.status as object), conditions: [theirs] } }));
    fixture.start();
    await minutes(2);
    expect(conditionsOf(shoot)[0]).toEqual(theirs);
    expect(conditionsOf(shoot).map(({ type }) => type)).toEqual(['Theirs', ...types]);
  });

  it('is written again after a conflict, based on the object as it is stored then', async () => {
    const shoot = fixture.addShoot('a');
    let interfered = 0;
    fixture.setFaults('garden', ({ path }) => {
      if (!path.endsWith('/status') || interfered === 3) return undefined;
      interfered += 1;
      const conditions = [{ ...theirs, extra: interfered }];
      editShoot(shoot, (object) => ({ ...object, status: { ...(object.status as object), conditions } }));
      return undefined;
    });
    fixture.start();
    await minutes(1);
    expect(interfered).toBe(3);
    expect(conditionsOf(shoot).map(({ type }) => type)).toEqual(['Theirs', ...types]);
    expect(conditionsOf(shoot)[0]).toMatchObject({ extra: 3 });
    // The checks did not run again.
    expect(fixture.requests.shoot('a').total({ resource: '/healthz' })).toBeLessThanOrEqual(2);
    expect(logged(/could not be written/)).toEqual([]);
  });

  it('is judged as it is stored after a conflict, because the failure may be pardoned by then', async () => {
    const shoot = fixture.addShoot('a');
    available(shoot, 'kube-scheduler', 'False');
    let interfered = false;
    fixture.setFaults('garden', ({ path }) => {
      if (!path.endsWith('/status') || interfered) return undefined;
      interfered = true;
      const lastOperation = { type: 'Reconcile', state: 'Processing' };
      editShoot(shoot, (object) => ({ ...object, status: { ...(object.status as object), lastOperation } }));
      return undefined;
    });
    fixture.start();
    await minutes(1);
    expect(conditionOf(shoot, 'ControlPlaneHealthy')?.status).toBe('Progressing');
  });

  const written = (manager: string, time: string) => ({
    manager,
    operation: 'Update',
    subresource: 'status',
    time,
    fieldsV1: { 'f:status': { 'f:conditions': { 'k:{"type":"EveryNodeReady"}': {} } } },
  });
  const writtenBy = (shoot: WorldShoot, manager: string) =>
    fixture.setWriters(shoot, [written(manager, formatTime(fixture.clock.now()))]);

  it('is not written while gardenlet writes it', async () => {
    const shoot = fixture.addShoot('a');
    const other = fixture.addShoot('b');
    writtenBy(shoot, 'gardenlet');
    fixture.start();
    await minutes(4);
    expect([statusesOf(shoot), stored(shoot).metadata.labels]).toEqual([[], undefined]);
    expect(statusesOf(other)).toHaveLength(5);
    expect(logged(/^left alone: gardenlet writes these conditions/)).toHaveLength(1);
    expect(logged(/^condition changed$/).filter(({ namespace }) => namespace === shoot.namespace)).toHaveLength(5);
    await minutes(4);
    expect(statusesOf(shoot)).toHaveLength(5);
    expect(logged(/^trouble is over$/)).toHaveLength(1);
  });

  it('is written in spite of gardenlet with --take-over', async () => {
    const shoot = fixture.addShoot('a');
    writtenBy(shoot, 'gardenlet');
    fixture.start({ takeOver: true });
    await minutes(2);
    expect(statusesOf(shoot)).toHaveLength(5);
  });

  it('is written in spite of our own earlier writes', async () => {
    const shoot = fixture.addShoot('a');
    writtenBy(shoot, 'dependency-watchdog-care');
    fixture.start();
    await minutes(2);
    expect(statusesOf(shoot)).toHaveLength(5);
  });

  it('that has moved to another seed is not written', async () => {
    const shoot = fixture.addShoot('a');
    const onSeed = (seedName: string) =>
      editShoot(shoot, (object) => ({ ...object, status: { ...(object.status as object), seedName } }));
    onSeed('other');
    fixture.start();
    await minutes(3);
    expect([statusesOf(shoot), logged(/^not written: the Shoot is on seed other now$/).length]).toEqual([[], 1]);
    onSeed('simulated');
    await minutes(2);
    expect(statusesOf(shoot)).toHaveLength(5);
  });

  it('is not written in a dry run, but its conditions change', async () => {
    const shoot = fixture.addShoot('a');
    const conditionThresholds = [{ type: 'ControlPlaneHealthy', duration: 120_000 } as const];
    fixture.start({ dryRun: true, settings: { conditionThresholds } });
    await minutes(2);
    available(shoot, 'kube-scheduler', 'False');
    await minutes(5);
    const changes = logged(/^condition changed$/).filter(({ condition }) => condition === 'ControlPlaneHealthy');
    expect(changes.map(({ status }) => status)).toEqual(['True', 'Progressing', 'False']);
    expect(gardenWrites()).toBe(0);
  });

  it('may be deleted or unreachable: each causes one warning, and the checks continue', async () => {
    fixture.addShoot('a');
    fixture.garden.store.remove(careKinds.Shoot, { namespace: gardenNamespace, name: 'a' });
    fixture.addShoot('b');
    fixture.start();
    await minutes(3);
    expect(logged(/^there is no such Shoot in the garden$/)).toHaveLength(1);
    fixture.setFaults('garden', ({ path }) => (path.endsWith('/b') ? { status: 503 } : undefined));
    await minutes(3);
    expect(logged(/^conditions could not be written to the garden: .*shoots\/b/)).toHaveLength(1);
    expect(fixture.requests.shoot('b').total({ resource: '/healthz' })).toBeGreaterThan(4);
    expect(await fixture.care.meter.metricsText()).toMatch(/^dwd_care_runs_total\{outcome="gone"\} [67]$/m);
  });
});

describe('checks', () => {
  it('of other shoots do not wait for shoots that do not respond', async () => {
    const hanging = Array.from({ length: 5 }, (_, index) => fixture.addShoot(`h${String(index)}`));
    const other = fixture.addShoot('b');
    for (const shoot of hanging) fixture.setFaults(shoot, () => 'drop');
    fixture.start();
    await minutes(10);
    expect(fixture.requests.shoot('b').total({ resource: '/healthz' })).toBeGreaterThanOrEqual(9);
    expect(statusesOf(other)).toEqual(types.map(() => 'True'));
    for (const shoot of hanging) {
      expect(conditionOf(shoot, 'APIServerAvailable')).toMatchObject({
        status: 'False',
        reason: 'HealthzRequestFailed',
      });
      expect(conditionOf(shoot, 'EveryNodeReady')).toMatchObject({ status: 'Unknown', reason: 'ConditionCheckError' });
      expect(conditionOf(shoot, 'ControlPlaneHealthy')?.status).toBe('True');
      // A server that does not respond gets no further request.
      expect([...fixture.requests.shoot(shoot.name).byKey.keys()]).toEqual(['get /healthz']);
    }
    const metrics = await fixture.care.meter.metricsText();
    const within = (le: string) =>
      new RegExp(`^dwd_care_run_seconds_bucket\\{le="${le}"\\} (\\d+)$`, 'm').exec(metrics)?.[1];
    expect(Number(within('5'))).toBeLessThan(Number(within('10')));
    expect(within('10')).toBe(within('\\+Inf'));
  });

  it('end in time although a list gets no response, and its condition is Unknown', async () => {
    const shoot = fixture.addShoot('a');
    fixture.setFaults(shoot, ({ path }) => (path === '/api/v1/nodes' ? 'drop' : undefined));
    fixture.start();
    await minutes(2);
    expect(conditionOf(shoot, 'EveryNodeReady')).toMatchObject({ status: 'Unknown', reason: 'ConditionCheckError' });
    expect(statusesOf(shoot).filter((status) => status === 'True')).toHaveLength(4);
  });

  it('start at once when an operation has succeeded', async () => {
    const shoot = fixture.addShoot('a');
    const operation =
      (state: string) =>
      (object: SimDraft): SimDraft => ({
        ...object,
        status: { ...(object.status as object), lastOperation: { type: 'Reconcile', state } },
      });
    fixture.start({ settings: { syncPeriod: 3_600_000 } });
    await minutes(61);
    const runs = () => fixture.requests.shoot('a').total({ resource: '/healthz' });
    const before = runs();
    editCluster(shoot, operation('Processing'));
    await fixture.clock.advance(1_000);
    expect(runs()).toBe(before);
    editCluster(shoot, operation('Succeeded'));
    await fixture.clock.advance(1_000);
    expect(runs()).toBe(before + 1);
  });

  it('start with a new Cluster, and end with it', async () => {
    fixture.start();
    await minutes(1);
    const shoot = fixture.addShoot('a');
    await minutes(2);
    expect(statusesOf(shoot)).toHaveLength(5);
    expect(await fixture.care.meter.metricsText()).toContain(shoot.namespace);
    fixture.seed.store.remove(simKinds.Cluster, { name: shoot.namespace });
    await minutes(1);
    const { size } = fixture.requests.shoot('a').byKey;
    const before = fixture.requests.shoot('a').total();
    await minutes(5);
    expect([fixture.requests.shoot('a').total(), fixture.requests.shoot('a').byKey.size]).toEqual([before, size]);
    expect(await fixture.care.meter.metricsText()).not.toContain(shoot.namespace);
  });

  it('of many shoots read only from the shoots and the garden, and write only differences', {
    timeout: 120_000,
  }, async ({ annotate }) => {
    const count = 50;
    const shoots = Array.from({ length: count }, (_, index) => fixture.addShoot(`s${String(index)}`, 3));
    fixture.start();
    await minutes(2);
    expect(shoots.every((shoot) => statusesOf(shoot).join() === types.map(() => 'True').join())).toBe(true);
    const sum = () => shoots.reduce((total, { name }) => total + fixture.requests.shoot(name).total(), 0);
    const runs = () =>
      shoots.reduce((total, { name }) => total + fixture.requests.shoot(name).total({ resource: '/healthz' }), 0);
    const before = { shoots: sum(), runs: runs() };
    fixture.requests.seed.reset();
    fixture.requests.garden.reset();
    await minutes(4);
    const made = runs() - before.runs;
    const perRun = {
      shoot: (sum() - before.shoots) / made,
      garden: fixture.requests.garden.total({ verb: 'get' }) / made,
      gardenWrites: gardenWrites(),
      seedLists: fixture.requests.seed.total({ verb: 'list' }),
      seedOthers: fixture.requests.seed.total() - fixture.requests.seed.total({ verb: 'watch' }),
    };
    await annotate(
      `${String(count)} shoots, ${String(made)} runs in 4 min; requests per run: ${JSON.stringify(perRun)}`,
    );
    expect(made).toBeGreaterThanOrEqual(count * 4 - 1);
    expect(made).toBeLessThanOrEqual(count * 4 + 1);
    expect(perRun).toEqual({ shoot: 4, garden: 1, gardenWrites: 0, seedLists: 0, seedOthers: 0 });
  });
});

it('the conditions show an outage of the nodes, and then the scale-down by the prober', async () => {
  const shoot = fixture.addShoot('a', 10);
  fixture.scenario.startProber();
  fixture.start({ settings: { syncPeriod: 10_000 } });
  await minutes(3);
  expect(statusesOf(shoot)).toEqual(types.map(() => 'True'));
  shoot.cutKubelets();
  await fixture.clock.runUntil(() => conditionOf(shoot, 'EveryNodeReady')?.status === 'False');
  expect(conditionOf(shoot, 'EveryNodeReady')).toMatchObject({
    reason: 'TooManyExpiredNodeLeases',
    message: expect.stringMatching(/^\d+% of all Leases in kube-node-lease namespace are expired - /) as unknown,
  });
  await fixture.clock.runUntil(() => conditionOf(shoot, 'ControlPlaneHealthy')?.reason === 'ControllersScaledDown');
  expect(conditionOf(shoot, 'ControlPlaneHealthy')?.message).toMatch(
    /^The following deployments have been scaled down to 0 replicas by dependency-watchdog-prober: /,
  );
  expect(stored(shoot).metadata.labels?.['shoot.gardener.cloud/status']).toBe('unhealthy');
});
