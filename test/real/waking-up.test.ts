import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import {
  createDeployment,
  createMachines,
  createNodes,
  createProtectedShoot,
  getDeployment,
  isAt,
  seedRules,
  shootRules,
} from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import { auditInto } from './support/audit.ts';
import { type Program, startProgram } from './support/program.ts';

// A shoot that wakes up from hibernation has yesterday's leases, which no kubelet renews yet. A second shoot with the same leases, which is not
// waking up, shows that the prober acts on such leases.

const names = ['waking', 'awake'] as const;
type Name = (typeof names)[number];
const statusOf: Readonly<Record<Name, object>> = { waking: { hibernated: true }, awake: { hibernated: false } };
const namespaceOf = (name: Name): string => `shoot--test--${name}`;
const nodes = ['node-a', 'node-b', 'node-c'];
const dayMs = 86_400_000;

const config = `
kubeConfigSecretName: shoot-access-prober
probeInterval: 1s
initialDelay: 0s
probeTimeout: 5s
backoffJitterFactor: 0.1
kcmNodeMonitorGraceDuration: 8s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    scaleUp: {level: 0, timeout: 20s}
    scaleDown: {level: 0, timeout: 20s}
`;

describeEnvtest('a shoot that wakes up with old leases', () => {
  let directory: string;
  let seed: ControlPlane;
  let shoot: ControlPlane;
  let controller: { stop(): Promise<void> };
  let shootAudit: ReturnType<typeof auditInto>;
  let program: Program | undefined;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-real-'));
    shootAudit = auditInto(mkdtempSync(join(directory, 'shoot-')));
    [seed, shoot] = await Promise.all([
      startControlPlane({ name: 'seed' }),
      startControlPlane({ name: 'shoot', kinds: [], apiServerFlags: shootAudit.flags }),
    ]);
    await createNodes(shoot.client, nodes, -dayMs);
    for (const name of names) {
      const namespace = namespaceOf(name);
      const { text } = await shoot.kubeconfigFor({ user: name, rules: shootRules });
      const spec = { hibernation: { enabled: false } };
      await createProtectedShoot(seed, { namespace, kubeconfig: text, shoot: spec, status: statusOf[name] });
      await createMachines(seed.client, { namespace, nodes });
      await createDeployment(seed.client, namespace, { name: 'kube-controller-manager', replicas: 2 });
    }
    controller = startDeploymentController(seed.client);
    for (const name of names) await untilScaled(name, 2);
    const configFile = join(directory, 'config.yaml');
    writeFileSync(configFile, config);
    const { file } = await seed.kubeconfigFor({ user: 'dwd', rules: seedRules });
    program = startProgram([
      'prober',
      `--config-file=${configFile}`,
      `--kubeconfig=${file}`,
      '--metrics-bind-addr=0',
      '--health-bind-addr=0',
    ]);
  });

  afterAll(async () => {
    program?.signal('SIGKILL');
    await controller.stop();
    await Promise.all([seed.stop(), shoot.stop()]);
    rmSync(directory, { recursive: true, force: true });
  });

  const untilScaled = (name: Name, replicas: number): Promise<unknown> =>
    waitFor(
      { what: `${name} at ${String(replicas)}`, withinMs: 60_000, detail: () => program?.output() ?? '' },
      async () => isAt(await getDeployment(seed.client, namespaceOf(name), 'kube-controller-manager'), replicas),
    );

  it('is neither probed nor scaled', async () => {
    await untilScaled('awake', 0);
    expect(shootAudit.requests().filter(({ user }) => user === 'waking')).toEqual([]);
    const { metadata, spec } = await getDeployment(seed.client, namespaceOf('waking'), 'kube-controller-manager');
    expect(spec.replicas).toBe(2);
    expect(metadata.annotations ?? {}).toEqual({});
  });

  it('is probed when it is awake', async () => {
    const path = `/apis/extensions.gardener.cloud/v1alpha1/clusters/${namespaceOf('waking')}`;
    await seed.client.patch(path, { spec: { shoot: { status: { hibernated: false } } } });
    await untilScaled('waking', 0);
  });
});
