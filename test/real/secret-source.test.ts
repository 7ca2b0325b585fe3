import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import {
  type Kubelets,
  createDeployment,
  createNodes,
  getDeployment,
  isAt,
  shootRules,
  startKubelets,
} from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import { printedRules } from './support/printed-rules.ts';
import { type Program, startProgram } from './support/program.ts';

const namespace = 'tenant-one';
const kcm = 'kube-controller-manager';
const nodes = ['node-a', 'node-b', 'node-c'];
const prefix = 'dependency-watchdog.gardener.cloud';

const config = `
kubeConfigSecretName: tenant-kubeconfig
clusterSource: {kind: secret, key: value}
probeInterval: 1s
initialDelay: 0s
probeTimeout: 5s
backoffJitterFactor: 0.1
landingTimeout: 1s
kcmNodeMonitorGraceDuration: 8s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: ${kcm}}
    scaleUp: {level: 0, timeout: 20s}
    scaleDown: {level: 0, timeout: 20s}
`;

describeEnvtest("a cluster that is not Gardener's", () => {
  let directory: string;
  let seed: ControlPlane;
  let cluster: ControlPlane;
  let kubelets: Kubelets;
  let controller: { stop(): Promise<void> };
  let program: Program;
  let kubeconfig: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-secret-source-'));
    // Without Gardener's kinds.
    [seed, cluster] = await Promise.all([
      startControlPlane({ name: 'seed', kinds: [] }),
      startControlPlane({ name: 'tenant', kinds: [] }),
    ]);
    await createNodes(cluster.client, nodes);
    kubelets = startKubelets(cluster.client, nodes);
    kubeconfig = (await cluster.kubeconfigFor({ user: 'prober', rules: shootRules })).text;
    await seed.client.apply(`/api/v1/namespaces/${namespace}`, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    await createSecret();
    await createDeployment(seed.client, namespace, { name: kcm, replicas: 2 });
    controller = startDeploymentController(seed.client, namespace);
    const configFile = join(directory, 'config.yaml');
    writeFileSync(configFile, config);
    const { file } = await seed.kubeconfigFor({ user: 'dwd', rules: await printedRules(configFile) });
    program = startProgram([
      ...['prober', `--config-file=${configFile}`, `--kubeconfig=${file}`],
      ...['--metrics-bind-addr=0', '--health-bind-addr=0'],
    ]);
  });

  afterAll(async () => {
    program.signal('SIGKILL');
    await Promise.all([kubelets.stop(), controller.stop()]);
    await Promise.all([seed.stop(), cluster.stop()]);
    rmSync(directory, { recursive: true, force: true });
  });

  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  const createSecret = (): Promise<unknown> =>
    seed.client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'tenant-kubeconfig' },
      data: { value: Buffer.from(kubeconfig).toString('base64') },
    });

  const untilScaled = (replicas: number, withinMs = 40_000): Promise<unknown> =>
    waitFor({ what: `${kcm} at ${String(replicas)} replicas`, withinMs, detail: program.output }, async () =>
      isAt(await getDeployment(seed.client, namespace, kcm), replicas),
    );
  const marks = async (): Promise<readonly string[]> => {
    const { metadata } = await getDeployment(seed.client, namespace, kcm);
    return Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith(prefix));
  };
  const untilLogged = (message: string, from: number): Promise<unknown> =>
    waitFor({ what: `the line ${message}`, withinMs: 40_000, detail: program.output }, async () =>
      program
        .lines()
        .slice(from)
        .some(({ msg, verdict }) => msg === message || verdict === message),
    );
  const pause = (value: string | null): Promise<unknown> =>
    seed.client.patch(`/api/v1/namespaces/${namespace}`, {
      metadata: { annotations: { [`${prefix}/paused`]: value } },
    });

  it('is held in an outage, with the printed rights', async () => {
    await untilLogged('no right is missing', 0);
    kubelets.cut();
    await untilScaled(0);
    expect(await marks()).toContain(`${prefix}/meltdown-protection-active`);
  });

  it('is restored to its former count when the kubelets renew again', async () => {
    kubelets.connect();
    await untilScaled(2);
    expect(await marks()).toEqual([]);
  });

  it('is not held while it is paused, but is held as soon as the pause ends', async () => {
    await pause('{"reason":"maintenance","by":"test"}');
    const from = program.lines().length;
    kubelets.cut();
    await untilLogged('unhealthy', from);
    const { spec } = await getDeployment(seed.client, namespace, kcm);
    expect(spec.replicas).toBe(2);
    await pause(null);
    await untilScaled(0);
  });

  it('is restored when its Secret stays deleted, and held again when there is a new one', async () => {
    await seed.client.delete(`${secrets}/tenant-kubeconfig`);
    await untilScaled(2, 90_000);
    expect(await marks()).toEqual([]);
    await createSecret();
    await untilScaled(0);
  });

  it('loses its mark, but keeps its count, while its namespace is being deleted', async () => {
    await seed.client.delete(`/api/v1/namespaces/${namespace}`);
    await waitFor(
      { what: 'no mark', withinMs: 20_000, detail: program.output },
      async () => !(await marks()).includes(`${prefix}/meltdown-protection-active`),
    );
    expect((await getDeployment(seed.client, namespace, kcm)).spec.replicas).toBe(0);
  });
});
