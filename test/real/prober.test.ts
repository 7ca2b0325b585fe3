import { expect, it } from 'vitest';
import { proberConfig } from '../../src/prober/config/config.ts';
import { proberGrants, proberShootGrants } from '../../src/prober/rights.ts';
import { leaseGrants } from '../../src/process/rights/grants.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { freePorts } from '../envtest/processes.ts';
import { createMill, startMillController } from './support/mill.ts';
import { kcm, mcm, nodes, quickConfig, shootNamespace, shootUser, startProberWorld } from './support/prober-world.ts';
import { compareRights, rulesOf } from './support/rights.ts';

const dependents = [kcm, mcm, 'mill'] as const;
const config = quickConfig(dependents, { initialDelay: '1s' });
/** Errors of the nodes' clocks: the API server's own stamps count. */
const clockShiftsMs = [0, 600_000, -600_000];
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
    const { seed, seedAudit, shootAudit, until, untilCounts } = world;
    const kubelets = nodes.map((node, index) => world.startKubelets([node], { clockShiftMs: clockShiftsMs[index] }));
    await world.createShoot();
    await createMill(seed.client, shootNamespace, 4);
    for (const start of [startDeploymentController, startMillController]) world.use(start(seed.client));

    const { file } = await seed.kubeconfigFor({ user: 'dwd', rules: rulesOf(grants) });
    const [metricsPort, healthPort] = (await freePorts(2)).map(String);
    const program = world.start([
      ...['prober', `--config-file=${world.file('config.yaml', config)}`, `--kubeconfig=${file}`],
      ...['--enable-leader-election', '--leader-election-namespace=garden'],
      ...[`--metrics-bind-addr=127.0.0.1:${metricsPort}`, `--health-bind-addr=127.0.0.1:${healthPort}`],
    ]);
    const requests = () => seedAudit.requests().filter(({ user }) => user === 'dwd');
    const probes = () => shootAudit.requests().filter(({ user }) => user === shootUser);

    await until('readyz', async () => {
      const answer = await fetch(`http://127.0.0.1:${healthPort}/readyz`).catch(() => undefined);
      return answer?.status === 200;
    });
    await until('the check of rights', () => program.lines().some(({ msg }) => msg === 'no right is missing'));

    /** Returns the dependents that were written, in order. A write that conflicts with the mill's controller is refused and sent again. */
    const written = (): readonly string[] =>
      requests()
        .filter(({ verb, status }) => verb === 'patch' && status !== 409)
        .map(({ name = '', uri }) => (/\/scale\b/.test(uri) ? `${name}/scale` : name));
    const marks = () => Promise.all(dependents.map((name) => world.marksOf(name)));

    await untilCounts({ [kcm]: 2, [mcm]: 3, mill: 4 });
    for (const kubelet of kubelets) kubelet.cut();
    await untilCounts({ [kcm]: 0, [mcm]: 0, mill: 0 });
    expect(written()).toEqual([mcm, kcm, 'mill', 'mill/scale']);
    const annotation = expect.stringMatching(
      /^\{"since":"20[^"]+Z","reason":".*(leases|renewed).*","by":".+","with":\[.+\]\}$/,
    ) as unknown;
    expect(await marks()).toMatchObject(['2', '3', '4'].map((replicas) => ({ replicas, held: annotation })));

    for (const kubelet of kubelets) kubelet.connect();
    await untilCounts({ [kcm]: 2, [mcm]: 3, mill: 4 });
    await until('no annotation', async () => (await marks()).every((all) => Object.keys(all).length === 0));
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
