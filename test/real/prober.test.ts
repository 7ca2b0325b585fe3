import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { proberConfig } from '../../src/prober/config/config.ts';
import { proberGrants, proberShootGrants } from '../../src/prober/rights.ts';
import { leaseGrants } from '../../src/process/rights/grants.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { freePorts } from '../envtest/processes.ts';
import { getDeployment, isAt, startKubelets } from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import { type Mill, createMill, millPath, startMillController } from './support/mill.ts';
import { startProgram } from './support/program.ts';
import { kcm, mcm, nodes, shootNamespace as namespace, shootUser, startProberWorld } from './support/prober-world.ts';
import { compareRights, rulesOf } from './support/rights.ts';

const prefix = 'dependency-watchdog.gardener.cloud';
/** Errors of the nodes' clocks: the API server's own stamps count. */
const clockShiftsMs = [0, 600_000, -600_000];
const config = `
kubeConfigSecretName: shoot-access-prober
probeInterval: 1s
initialDelay: 1s
probeTimeout: 5s
backoffJitterFactor: 0.1
kcmNodeMonitorGraceDuration: 8s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: ${kcm}}
    scaleUp: {level: 0, timeout: 20s}
    scaleDown: {level: 1, timeout: 20s}
  - ref: {apiVersion: apps/v1, kind: Deployment, name: ${mcm}}
    scaleUp: {level: 1, timeout: 20s}
    scaleDown: {level: 0, timeout: 20s}
  - ref: {apiVersion: test.dependency-watchdog.gardener.cloud/v1, kind: Watermill, name: mill}
    scaleUp: {level: 2}
    scaleDown: {level: 2}
`;

const grants = (() => {
  const { settings } = proberConfig.load(config, { unknownFields: 'error' });
  if (settings === undefined) return expect.unreachable('not valid');
  const ofProber = proberGrants(settings, ({ kind }) => `${kind.toLowerCase()}s`);
  return [...ofProber, ...leaseGrants('dwd-prober-leader-election', 'garden')];
})();

describeEnvtest('the prober on real servers', () => {
  it('protects and restores in the order of the levels, with exactly the rights that it declares', async ({
    onTestFinished,
  }) => {
    const world = await startProberWorld('prober');
    onTestFinished(() => world.stop());
    const { seed, seedAudit, shootAudit } = world;
    const kubelets = nodes.map((node, index) =>
      startKubelets(world.shoot.client, [node], { clockShiftMs: clockShiftsMs[index] }),
    );
    for (const kubelet of kubelets) onTestFinished(() => kubelet.stop());
    await world.createShoot();
    await createMill(seed.client, namespace, 4);
    for (const controller of [startDeploymentController(seed.client), startMillController(seed.client)]) {
      onTestFinished(() => controller.stop());
    }

    const configFile = join(world.directory, 'config.yaml');
    writeFileSync(configFile, config);
    const { file } = await seed.kubeconfigFor({ user: 'dwd', rules: rulesOf(grants) });
    const [metricsPort, healthPort] = (await freePorts(2)).map(String);
    const program = startProgram([
      ...['prober', `--config-file=${configFile}`, `--kubeconfig=${file}`],
      ...['--enable-leader-election', '--leader-election-namespace=garden'],
      ...[`--metrics-bind-addr=127.0.0.1:${metricsPort}`, `--health-bind-addr=127.0.0.1:${healthPort}`],
    ]);
    onTestFinished(async () => {
      program.signal('SIGKILL');
      await program.ended;
    });
    const until = (what: string, isSo: () => boolean | Promise<boolean>): Promise<unknown> =>
      waitFor({ what, detail: program.output }, isSo);
    const requests = () => seedAudit.requests().filter(({ user }) => user === 'dwd');
    const probes = () => shootAudit.requests().filter(({ user }) => user === shootUser);

    await until('readyz', async () => {
      const answer = await fetch(`http://127.0.0.1:${healthPort}/readyz`).catch(() => undefined);
      return answer?.status === 200;
    });
    await until('the check of rights', () => program.lines().some(({ msg }) => msg === 'no right is missing'));

    // A healthy run costs two requests to the shoot, and none to the seed.
    const runs = () => probes().filter(({ uri }) => uri === '/version');
    const before = runs().length;
    await until('healthy runs', () => runs().length >= before + 5);
    const [from = 0, to = 0] = [runs().at(-3)?.at, runs().at(-1)?.at];
    const isBetween = ({ at }: { readonly at: number }): boolean => at >= from && at < to;
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    const oneRun = ['/version', leases];
    expect(
      probes()
        .filter(isBetween)
        .map(({ uri }) => uri),
    ).toEqual([...oneRun, ...oneRun]);
    expect(requests().filter((one) => isBetween(one) && !one.resource.startsWith('leases'))).toEqual([]);

    /** Returns the dependents that were written, in order. A write that conflicts with the mill's controller is refused and sent again. */
    const written = (): readonly string[] =>
      requests()
        .filter(({ verb, status }) => verb === 'patch' && status !== 409)
        .map(({ name = '', uri }) => (/\/scale\b/.test(uri) ? `${name}/scale` : name));
    const mill = () => seed.client.get<Mill>(millPath(namespace));
    const untilAt = (counts: Readonly<Record<string, number>>, millCount: number): Promise<unknown> =>
      until(`${JSON.stringify(counts)}, mill ${String(millCount)}`, async () => {
        const deployments = Object.entries(counts).map(async ([name, count]) =>
          isAt(await getDeployment(seed.client, namespace, name), count),
        );
        return (await Promise.all(deployments)).every(Boolean) && (await mill()).spec.wheel.count === millCount;
      });
    const annotationsOf = async (): Promise<readonly Readonly<Record<string, string>>[]> => {
      const deployments = await Promise.all([kcm, mcm].map((name) => getDeployment(seed.client, namespace, name)));
      return [...deployments, await mill()].map(({ metadata }) => metadata.annotations ?? {});
    };

    await untilAt({ [kcm]: 2, [mcm]: 3 }, 4);
    for (const kubelet of kubelets) kubelet.cut();
    await untilAt({ [kcm]: 0, [mcm]: 0 }, 0);
    expect(written()).toEqual([mcm, kcm, 'mill', 'mill/scale']);
    const annotation = expect.stringMatching(
      /^\{"since":"20[^"]+Z","reason":".*(leases|renewed).*","by":".+","with":\[.+\]\}$/,
    ) as unknown;
    expect(await annotationsOf()).toMatchObject(
      ['2', '3', '4'].map((count) => ({ [`${prefix}/replicas`]: count, [`${prefix}/held`]: annotation })),
    );

    for (const kubelet of kubelets) kubelet.connect();
    await untilAt({ [kcm]: 2, [mcm]: 3 }, 4);
    await until('no annotation', async () =>
      (await annotationsOf()).every((all) => !Object.keys(all).some((key) => key.startsWith(prefix))),
    );
    expect(written().slice(4)).toEqual([kcm, mcm, 'mill/scale', 'mill']);
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toMatch(/dwd_prober_runs_total\{[^}]*result="unhealthy"[^}]*\} [1-9]/);

    // A Deployment is read again only if its scaling begins before the other direction has ended.
    const isSometimes = ['get deployments kube-controller-manager', 'get deployments machine-controller-manager'];
    const { unused, refused } = compareRights(grants, requests());
    expect([unused.filter((right) => !isSometimes.includes(right)), refused]).toEqual([[], []]);
    expect(compareRights(proberShootGrants, probes())).toEqual({ unused: [], refused: [] });

    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
  });
});
