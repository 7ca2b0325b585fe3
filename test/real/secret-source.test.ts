import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { proberConfig } from '../../src/prober/config/config.ts';
import { proberGrants, proberShootGrants } from '../../src/prober/rights.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import {
  createDeployment,
  createKubeconfigSecret,
  createNodes,
  getDeployment,
  isAt,
  startKubelets,
} from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import { startProgram } from './support/program.ts';
import { rulesOf } from './support/rights.ts';

const namespace = 'tenant-one';
const kcm = 'kube-controller-manager';
const nodes = ['node-a', 'node-b', 'node-c'];
const prefix = 'dependency-watchdog.gardener.cloud';

const config = `
kubeConfigSecretName: tenant-kubeconfig
clusterSource: {kind: secret}
probeInterval: 1s
initialDelay: 0s
probeTimeout: 5s
backoffJitterFactor: 0.1
landingTimeout: 0s
kcmNodeMonitorGraceDuration: 8s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: ${kcm}}
    scaleUp: {level: 0, timeout: 20s}
    scaleDown: {level: 0, timeout: 20s}
`;

describeEnvtest("a cluster that is not Gardener's", () => {
  it('is held in an outage and restored after it, with the rights that the prober declares and without a kind of Gardener', async ({
    onTestFinished,
  }) => {
    const directory = mkdtempSync(join(tmpdir(), 'dwd-secret-source-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const [seed, cluster] = (await Promise.all(
      ['seed', 'tenant'].map((name) => startControlPlane({ name, kinds: [] })),
    )) as [ControlPlane, ControlPlane];
    for (const plane of [seed, cluster]) onTestFinished(() => plane.stop());
    await createNodes(cluster.client, nodes);
    const kubelets = startKubelets(cluster.client, nodes);
    onTestFinished(() => kubelets.stop());
    const { text } = await cluster.kubeconfigFor({ user: 'prober', rules: rulesOf(proberShootGrants) });
    await seed.kubectl(['create', 'namespace', namespace]);
    await createKubeconfigSecret(seed.client, { namespace, name: 'tenant-kubeconfig', kubeconfig: text });
    await createDeployment(seed.client, namespace, { name: kcm, replicas: 2 });
    const controller = startDeploymentController(seed.client, namespace);
    onTestFinished(() => controller.stop());

    const configFile = join(directory, 'config.yaml');
    writeFileSync(configFile, config);
    const { settings } = proberConfig.load(config, { unknownFields: 'error' });
    const grants = proberGrants(settings!, ({ kind }) => `${kind.toLowerCase()}s`);
    const { file } = await seed.kubeconfigFor({ user: 'dwd', rules: rulesOf(grants) });
    const program = startProgram([
      ...['prober', `--config-file=${configFile}`, `--kubeconfig=${file}`],
      ...['--metrics-bind-addr=0', '--health-bind-addr=0'],
    ]);
    onTestFinished(async () => {
      program.signal('SIGKILL');
      await program.ended;
    });
    const untilLogged = (message: string): Promise<unknown> =>
      waitFor({ what: message, detail: program.output }, () => program.lines().some(({ msg }) => msg === message));
    const untilScaled = (replicas: number): Promise<unknown> =>
      waitFor({ what: `${kcm} at ${String(replicas)} replicas`, detail: program.output }, async () =>
        isAt(await getDeployment(seed.client, namespace, kcm), replicas),
      );
    const annotations = async (): Promise<readonly string[]> => {
      const { metadata } = await getDeployment(seed.client, namespace, kcm);
      return Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith(prefix));
    };

    await untilLogged('no right is missing');
    await untilScaled(2);
    kubelets.cut();
    await untilScaled(0);
    expect(await annotations()).toContain(`${prefix}/meltdown-protection-active`);
    kubelets.connect();
    await untilScaled(2);
    expect(await annotations()).toEqual([]);

    // A real API server refuses a token; with the former kubeconfig the prober goes on.
    const use = (kubeconfig: string): Promise<unknown> =>
      seed.client.patch(`/api/v1/namespaces/${namespace}/secrets/tenant-kubeconfig`, {
        data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
      });
    const { users, ...rest } = parse(text) as { readonly users: readonly { readonly name: string }[] };
    await use(JSON.stringify({ ...rest, users: users.map(({ name }) => ({ name, user: { token: 'wrong' } })) }));
    await waitFor({ what: 'a refused token', detail: program.output }, () =>
      program
        .lines()
        .some(({ msg, reason }) => String(msg).startsWith('probe failed') && /401.*Unauthorized/.test(String(reason))),
    );
    await use(text);

    // While the namespace is being deleted, the mark goes and the count stays: nothing may start there again.
    kubelets.cut();
    await untilScaled(0);
    await seed.client.delete(`/api/v1/namespaces/${namespace}`);
    await waitFor(
      { what: 'no mark', detail: program.output },
      async () => !(await annotations()).includes(`${prefix}/meltdown-protection-active`),
    );
    expect((await getDeployment(seed.client, namespace, kcm)).spec.replicas).toBe(0);
  });
});
