import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { freePorts } from '../envtest/processes.ts';
import { type Kubelets, createDeployment, getDeployment, isAt, seedRules, startKubelets } from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import { type Program, startProgram } from './support/program.ts';
import { type ProberWorld, nodes, shootNamespace, shootUser, startProberWorld } from './support/prober-world.ts';

const namespace = shootNamespace;
const prefix = 'dependency-watchdog.gardener.cloud';
const watermills = '/apis/test.dependency-watchdog.gardener.cloud/v1';
const mill = `${watermills}/namespaces/${namespace}/watermills/mill`;

const config = `
kubeConfigSecretName: shoot-access-prober
probeInterval: 1s
initialDelay: 1s
probeTimeout: 5s
backoffJitterFactor: 0.1
kcmNodeMonitorGraceDuration: 8s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    scaleUp: {level: 0, timeout: 20s}
    scaleDown: {level: 1, timeout: 20s}
  - ref: {apiVersion: apps/v1, kind: Deployment, name: machine-controller-manager}
    scaleUp: {level: 1, timeout: 20s}
    scaleDown: {level: 0, timeout: 20s}
  - ref: {apiVersion: apps/v1, kind: Deployment, name: cluster-autoscaler}
    scaleUp: {level: 2}
    scaleDown: {level: 0}
  - ref: {apiVersion: apps/v1, kind: Deployment, name: not-there}
    optional: true
    scaleUp: {level: 0}
    scaleDown: {level: 0}
  - ref: {apiVersion: test.dependency-watchdog.gardener.cloud/v1, kind: Watermill, name: mill}
    scaleUp: {level: 3}
    scaleDown: {level: 2}
`;

interface Mill {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly wheel: { readonly count: number } };
}

describeEnvtest('prober on real components', () => {
  let world: ProberWorld;
  let seed: ProberWorld['seed'];
  let kubelets: Kubelets;
  let controller: { stop(): Promise<void> };
  let program: Program;
  let seedAudit: ProberWorld['seedAudit'];
  let shootAudit: ProberWorld['shootAudit'];
  let metricsPort: number;
  let healthPort: number;
  let turning = true;
  let turn = Promise.resolve();

  beforeAll(async () => {
    world = await startProberWorld('prober');
    ({ seed, seedAudit, shootAudit } = world);
    kubelets = startKubelets(world.shoot.client, nodes);
    await world.createShoot();
    await createDeployment(seed.client, namespace, {
      name: 'cluster-autoscaler',
      replicas: 1,
      annotations: { [`${prefix}/ignore-scaling`]: 'true' },
    });
    await seed.client.create(`${watermills}/namespaces/${namespace}/watermills`, {
      apiVersion: 'test.dependency-watchdog.gardener.cloud/v1',
      kind: 'Watermill',
      metadata: { name: 'mill' },
      spec: { wheel: { count: 4 } },
    });
    controller = startDeploymentController(seed.client, namespace);
    turn = turnMills();
  });

  /** Runs the watermill's controller, which copies the desired count into the status. */
  const turnMills = async (): Promise<void> => {
    while (turning) {
      const { spec, status } = await seed.client.get<Mill & { status?: { turning?: number } }>(mill);
      const { count } = spec.wheel;
      if (status?.turning !== count) await seed.client.patch(`${mill}/status`, { status: { turning: count } });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };

  afterAll(async () => {
    program.signal('SIGKILL');
    turning = false;
    await Promise.all([kubelets.stop(), controller.stop(), turn]);
    await world.stop();
  });

  const untilScaled = (name: string, replicas: number): Promise<unknown> =>
    waitFor({ what: `${name} at ${String(replicas)} replicas`, withinMs: 40_000, detail: program.output }, async () =>
      isAt(await getDeployment(seed.client, namespace, name), replicas),
    );
  const untilMill = (count: number): Promise<unknown> =>
    waitFor(
      { what: `watermill at ${String(count)}`, withinMs: 40_000 },
      async () => (await seed.client.get<Mill>(mill)).spec.wheel.count === count,
    );
  /** Returns the program's writes, except Events and permission checks, in order. */
  const writes = () =>
    seedAudit
      .requests()
      .filter(({ user, verb }) => user === 'dwd' && ['create', 'update', 'patch', 'delete'].includes(verb))
      .filter(({ uri }) => !/\/(?:events|selfsubjectaccessreviews)\b/.test(uri));
  /** Returns the names of the written resources. A write that conflicts with the watermill's controller is refused and sent again. */
  const written = () =>
    writes()
      .filter(({ status }) => status !== 409)
      .map(({ uri }) => uri.split('/').slice(-1)[0]?.replace(/\?.*/, '') ?? '');

  it('starts with the rights that existing installations grant, and is ready', async () => {
    const configFile = join(world.directory, 'config.yaml');
    writeFileSync(configFile, config);
    const rules = [
      ...seedRules,
      {
        apiGroups: ['test.dependency-watchdog.gardener.cloud'],
        resources: ['watermills', 'watermills/scale'],
        verbs: ['get', 'list', 'watch', 'update', 'patch'],
      },
    ];
    const { file } = await seed.kubeconfigFor({ user: 'dwd', rules });
    [metricsPort = 0, healthPort = 0] = await freePorts(2);
    program = startProgram([
      'prober',
      `--config-file=${configFile}`,
      `--kubeconfig=${file}`,
      `--metrics-bind-addr=127.0.0.1:${String(metricsPort)}`,
      `--health-bind-addr=127.0.0.1:${String(healthPort)}`,
    ]);
    await waitFor({ what: 'readyz', withinMs: 20_000, detail: program.output }, async () => {
      const answer = await fetch(`http://127.0.0.1:${String(healthPort)}/readyz`).catch(() => undefined);
      return answer?.status === 200;
    });
    expect((await fetch(`http://127.0.0.1:${String(healthPort)}/healthz`)).status).toBe(200);
  });

  it('costs two requests to the shoot and none to the seed per healthy run', async () => {
    const runs = () => shootAudit.requests().filter(({ user, uri }) => user === shootUser && uri === '/version');
    const isChecked = (): boolean => program.lines().some(({ msg }) => msg === 'no right is missing');
    await waitFor({ what: 'the check of rights', withinMs: 30_000 }, isChecked);
    const before = runs().length;
    await waitFor({ what: 'probe runs', withinMs: 20_000, detail: program.output }, () => runs().length >= before + 5);
    const settled = runs().at(-3)?.at ?? 0;
    const last = runs().at(-1)?.at ?? 0;
    const toShoot = shootAudit.requests().filter(({ user, at }) => user === shootUser && at >= settled && at < last);
    expect(toShoot.map(({ uri }) => uri)).toEqual([
      '/version',
      '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
      '/version',
      '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    ]);
    const toSeed = seedAudit.requests().filter(({ user, at }) => user === 'dwd' && at >= settled && at < last);
    expect(toSeed).toEqual([]);
  });

  it('scales down in the order of the levels, with both annotations in the one write', async () => {
    kubelets.cut();
    await untilScaled('machine-controller-manager', 0);
    await untilScaled('kube-controller-manager', 0);
    await untilMill(0);
    const note = expect.stringMatching(
      /^\{"since":"20[^"]+Z","reason":".*(leases|renewed).*","by":".+","with":\[.+\]\}$/,
    ) as unknown;
    for (const [name, replicas] of [
      ['kube-controller-manager', '2'],
      ['machine-controller-manager', '3'],
    ] as const) {
      const { metadata } = await getDeployment(seed.client, namespace, name);
      expect(metadata.annotations).toMatchObject({
        [`${prefix}/replicas`]: replicas,
        [`${prefix}/meltdown-protection-active`]: '',
        [`${prefix}/held`]: note,
      });
    }
    const { annotations } = (await seed.client.get<Mill>(mill)).metadata;
    expect(annotations).toMatchObject({ [`${prefix}/replicas`]: '4', [`${prefix}/held`]: note });
    expect(written()).toEqual(['machine-controller-manager', 'kube-controller-manager', 'mill', 'scale']);
    const autoscaler = await getDeployment(seed.client, namespace, 'cluster-autoscaler');
    expect(autoscaler.spec.replicas).toBe(1);
  });

  it('restores the former counts in the order of the levels and leaves no annotation', async () => {
    const before = written().length;
    kubelets.connect();
    await untilScaled('kube-controller-manager', 2);
    await untilScaled('machine-controller-manager', 3);
    await untilMill(4);
    await waitFor(
      { what: 'the watermill without marks', withinMs: 10_000 },
      async () => Object.keys((await seed.client.get<Mill>(mill)).metadata.annotations ?? {}).length === 0,
    );
    for (const name of ['kube-controller-manager', 'machine-controller-manager']) {
      const { metadata } = await getDeployment(seed.client, namespace, name);
      expect(Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith(prefix))).toEqual([]);
    }
    expect(written().slice(before)).toEqual(['kube-controller-manager', 'machine-controller-manager', 'scale', 'mill']);
  });

  it('reports its work in its log and metrics', async () => {
    const messages = program.lines().map(({ msg }) => msg);
    expect(messages).toContain('scaled down');
    expect(messages).toContain('scaled up');
    const metrics = await (await fetch(`http://127.0.0.1:${String(metricsPort)}/metrics`)).text();
    expect(metrics).toMatch(/dwd_prober_runs_total\{[^}]*result="unhealthy"[^}]*\} [1-9]/);
  });

  it('ends with exit code 0 on SIGTERM', async () => {
    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
  });
});
