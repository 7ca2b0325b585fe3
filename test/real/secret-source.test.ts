import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { proberConfig } from '../../src/prober/config/config.ts';
import { proberGrants } from '../../src/prober/rights.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { createDeployment, createKubeconfigSecret, getDeployment } from '../envtest/shoot.ts';
import { kcm, quickConfig, startProberWorld } from './support/prober-world.ts';
import { rulesOf } from './support/rights.ts';

const namespace = 'tenant-one';
const config = quickConfig([kcm], { kubeConfigSecretName: 'tenant-kubeconfig', clusterSource: { kind: 'secret' } });

describeEnvtest("a cluster that is not Gardener's", () => {
  it('is held in an outage and restored after it, with the rights that the prober declares and without a kind of Gardener', async ({
    onTestFinished,
  }) => {
    const world = await startProberWorld('secret-source', { kinds: [] });
    onTestFinished(() => world.stop());
    const { seed, kubeconfig, until } = world;
    const kubelets = world.startKubelets();
    await seed.kubectl(['create', 'namespace', namespace]);
    await createKubeconfigSecret(seed.client, { namespace, name: 'tenant-kubeconfig', kubeconfig });
    await createDeployment(seed.client, namespace, { name: kcm, replicas: 2 });
    world.use(startDeploymentController(seed.client, namespace));

    const { settings } = proberConfig.load(config, { unknownFields: 'error' });
    const grants = proberGrants(settings!, ({ kind }) => `${kind.toLowerCase()}s`);
    const { file } = await seed.kubeconfigFor({ user: 'dwd', rules: rulesOf(grants) });
    const program = world.start([
      ...['prober', `--config-file=${world.file('config.yaml', config)}`, `--kubeconfig=${file}`],
      ...['--metrics-bind-addr=0', '--health-bind-addr=0'],
    ]);
    const untilScaled = (replicas: number) => world.untilCounts({ [kcm]: replicas }, namespace);
    const marks = () => world.marksOf(kcm, namespace);

    await until('the check of rights', () => program.lines().some(({ msg }) => msg === 'no right is missing'));
    await untilScaled(2);
    kubelets.cut();
    await untilScaled(0);
    expect(await marks()).toHaveProperty('meltdown-protection-active');
    kubelets.connect();
    await untilScaled(2);
    expect(await marks()).toEqual({});

    // A real API server refuses a token; with the former kubeconfig the prober goes on.
    const use = (text: string): Promise<unknown> =>
      seed.client.patch(`/api/v1/namespaces/${namespace}/secrets/tenant-kubeconfig`, {
        data: { kubeconfig: Buffer.from(text).toString('base64') },
      });
    const { users, ...rest } = parse(kubeconfig) as { readonly users: readonly { readonly name: string }[] };
    await use(JSON.stringify({ ...rest, users: users.map(({ name }) => ({ name, user: { token: 'wrong' } })) }));
    await until('a refused token', () =>
      program
        .lines()
        .some(({ msg, reason }) => String(msg).startsWith('probe failed') && /401.*Unauthorized/.test(String(reason))),
    );
    await use(kubeconfig);

    // While the namespace is being deleted, the mark goes and the count stays: nothing may start there again.
    kubelets.cut();
    await untilScaled(0);
    await seed.client.delete(`/api/v1/namespaces/${namespace}`);
    await until('no mark', async () => !('meltdown-protection-active' in (await marks())));
    expect((await getDeployment(seed.client, namespace, kcm)).spec.replicas).toBe(0);
  });
});
