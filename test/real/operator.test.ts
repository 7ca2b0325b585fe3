import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { freePorts } from '../envtest/processes.ts';
import { seedRules } from '../envtest/shoot.ts';
import { mountConfig } from './support/mounted-config.ts';
import { kcm, mcm, nodes, quickConfig, shootNamespace as namespace, startProberWorld } from './support/prober-world.ts';

/** A shoot whose namespace is being deleted. */
const going = 'shoot--test--going';

const configOf = (
  nodeLeaseFailureFraction: number,
  ...dependents: Parameters<typeof quickConfig>[0] & object
): string => quickConfig(dependents, { nodeLeaseFailureFraction });

describeEnvtest("an operator's view of the prober, on a real API server", () => {
  it('records Events, names another writer and undoes its change, and follows a mounted ConfigMap', async ({
    onTestFinished,
  }) => {
    const world = await startProberWorld('operator');
    onTestFinished(() => world.stop());
    const { seed, seedAudit, directory, until, untilCounts } = world;
    const most = world.startKubelets(nodes.slice(0, 2));
    world.startKubelets(nodes.slice(2));
    for (const name of [namespace, going]) await world.createShoot({ namespace: name });
    world.use(startDeploymentController(seed.client));
    await seed.client.delete(`/api/v1/namespaces/${going}`);

    const config = mountConfig(join(directory, 'mount'), configOf(0.6, kcm));
    const rules = [...seedRules, { apiGroups: [''], resources: ['events'], verbs: ['create'] }];
    const { file } = await seed.kubeconfigFor({ user: 'dwd', rules });
    const [metricsPort] = (await freePorts(1)).map(String);
    const program = world.start([
      ...['prober', `--kubeconfig=${file}`, `--config-file=${config.file}`, '--health-bind-addr=0'],
      ...[`--metrics-bind-addr=127.0.0.1:${metricsPort}`, '--kube-api-qps=50', '--kube-api-burst=100'],
    ]);
    const untilMetric = (sample: string): Promise<unknown> =>
      until(sample, async () => {
        const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`).catch(() => undefined);
        return (await answer?.text())?.split('\n').includes(sample) === true;
      });
    const untilEvent = (text: RegExp): Promise<unknown> =>
      until(String(text), async () => text.test(await seed.kubectl(['describe', 'deployment', '-n', namespace, kcm])));
    const linesOf = (message: string) => program.lines().filter(({ msg }) => msg?.startsWith(message));

    await until('probing begins', () => linesOf('probing begins').length > 0);
    most.cut();
    await untilCounts({ [kcm]: 0 }, going);
    await untilCounts({ [kcm]: 0 });
    await untilEvent(
      /Warning +MeltdownProtectionScaledDown .*Scaled down from 2 to 0 replicas: 2\/3 node leases expired/,
    );
    // A terminating namespace refuses Events, which is not a missing right.
    await until('the refused Event', () =>
      seedAudit.requests().some(({ uri, status }) => uri === `/api/v1/namespaces/${going}/events` && status === 403),
    );

    await seed.kubectl(['scale', 'deployment', kcm, '-n', namespace, '--replicas=5']);
    const undone = "undone another writer's change of replicas";
    await until('the line that names the writer', () => linesOf(undone).length > 0);
    expect(linesOf(undone)).toMatchObject([{ level: 'warn', namespace, manager: 'kubectl', replicas: 5 }]);
    await untilCounts({ [kcm]: 0 });
    await untilEvent(/Undid kubectl, who had set replicas to 5: /);

    const refused = 'configuration not taken over: the old one stays in force';
    config.swap(configOf(0.6, kcm).replace('probeInterval: 1s', 'probeInterval: fast'));
    await until('the configuration is refused', () => linesOf(refused).length > 0);
    await untilMetric('dwd_config_reload_failed 1');
    expect(linesOf(refused)).toMatchObject([
      { level: 'error', problem: expect.stringMatching(/config\.yaml:2:\d+: probeInterval/) as unknown },
    ]);
    // Two of three leases are no longer enough. Only the later of two quick changes counts.
    config.swap(configOf(0.95, kcm));
    config.swap(configOf(0.9, kcm, mcm));
    await untilCounts({ [kcm]: 5 });
    await untilMetric('dwd_config_reload_failed 0');
    config.swap(configOf(0.6, kcm, mcm));
    await untilCounts({ [kcm]: 0, [mcm]: 0 });

    most.connect();
    await untilCounts({ [kcm]: 5, [mcm]: 3 });
    await untilEvent(/MeltdownProtectionScaledUp .*Scaled up from 0 to 5 replicas/);
    expect(linesOf('the namespace refuses Events')).toEqual([]);
    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
  });
});
