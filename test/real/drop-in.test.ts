import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { gardenletConfig } from '../../src/config/testing/texts.ts';
import type { RbacRule } from '../envtest/access.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { electionRules, getDeployment, seedRules, shootRules } from '../envtest/shoot.ts';
import { type WaitAttempt, waitFor } from '../envtest/waiting.ts';
import type { Program } from './support/program.ts';
import { type ProberWorld, kcm, mcm, shootNamespace as namespace, startProberWorld } from './support/prober-world.ts';

const secretName = 'shoot-access-dependency-watchdog-probe';
const leaseName = 'dwd-prober-leader-election';

/** gardenlet's configuration without the 30 s before machine-controller-manager is restored, to keep the test short. */
const config = gardenletConfig('prober').replace('    initialDelay: 30s\n', '');

const gardenersFlags = (configFile: string): readonly string[] => [
  'prober',
  `--config-file=${configFile}`,
  '--kube-api-qps=20.0',
  '--kube-api-burst=100',
  '--zap-log-level=INFO',
  '--enable-leader-election=true',
];

const without = (resource: string): readonly RbacRule[] =>
  seedRules
    .map((rule) => ({ ...rule, resources: rule.resources.filter((name) => name !== resource) }))
    .filter(({ resources }) => resources.length > 0);

/** The rights that docs/migrate.md recommends: on Secrets and Deployments only for the configured names. */
const narrowed: readonly RbacRule[] = [
  { apiGroups: ['extensions.gardener.cloud'], resources: ['clusters'], verbs: ['list', 'watch'] },
  { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
  { apiGroups: [''], resources: ['secrets'], resourceNames: [secretName], verbs: ['list', 'watch'] },
  { apiGroups: ['machine.sapcloud.io'], resources: ['machines'], verbs: ['list'] },
  {
    apiGroups: ['apps'],
    resources: ['deployments'],
    resourceNames: ['kube-controller-manager', 'machine-controller-manager', 'cluster-autoscaler'],
    verbs: ['get', 'list', 'watch', 'patch'],
  },
];

interface ElectionLease {
  readonly spec: { readonly holderIdentity?: string; readonly leaseTransitions?: number };
}

describeEnvtest('dwd prober in place of the Go program', () => {
  let world: ProberWorld;
  let program: Program | undefined;
  let accounts = 0;

  beforeAll(async () => {
    world = await startProberWorld('drop-in');
    const { seed, shoot } = world;
    const probe = { namespace: 'kube-system', name: 'dependency-watchdog-probe', rules: shootRules };
    const { text: kubeconfig } = await shoot.serviceAccountKubeconfig(probe);
    await world.createShoot({ kubeconfig, secretName });
    world.use(startDeploymentController(seed.client, namespace));
    await world.untilCounts({ [kcm]: 2, [mcm]: 3 });
  });

  afterEach(async () => {
    if (program === undefined) return;
    program.signal('SIGTERM');
    expect(await program.ended, program.output()).toBe(0);
    program = undefined;
  });

  afterAll(() => world.stop());

  const hasMetric = async (series: RegExp): Promise<boolean> =>
    series.test(await (await fetch('http://127.0.0.1:9643/metrics')).text());
  /** Starts the program with a new service account that has exactly these rights. */
  const start = async (rules: readonly RbacRule[]): Promise<Program> => {
    accounts += 1;
    const name = `dependency-watchdog-prober-${String(accounts)}`;
    const { file } = await world.seed.serviceAccountKubeconfig({ namespace: 'garden', name, rules });
    const configFile = world.file('dep-config.yaml', config);
    program = world.start(gardenersFlags(configFile), { env: { KUBECONFIG: file } });
    return program;
  };

  const readyz = async () => {
    const answer = await fetch('http://127.0.0.1:9644/readyz').catch(() => undefined);
    return answer === undefined ? undefined : { status: answer.status, body: await answer.text() };
  };
  const until = async <T>(what: string, running: Program, look: WaitAttempt<T>): Promise<T> =>
    waitFor({ what, detail: running.output }, look);
  const untilReady = (running: Program) => until('ready', running, async () => (await readyz())?.status === 200);
  const electionLease = () =>
    world.seed.client.get<ElectionLease>(`/apis/coordination.k8s.io/v1/namespaces/garden/leases/${leaseName}`);
  it("becomes ready, leads and protects with gardenlet's flags, configuration and rights", async () => {
    const running = await start([...seedRules, ...electionRules]);
    await untilReady(running);
    await until('leading', running, async () => {
      const lease = await electionLease().catch(() => undefined);
      return Boolean(lease?.spec.holderIdentity);
    });
    await world.untilCounts({ [kcm]: 0, [mcm]: 0 });
    expect(await world.marksOf(kcm)).toEqual({
      ...{ replicas: '2', 'meltdown-protection-active': '' },
      held: expect.stringMatching(/^\{"since":"[^"]+Z","reason":".+","by":".+","with":\[.+\]\}$/) as unknown,
    });
    expect(await world.marksOf(mcm)).toMatchObject({ replicas: '3' });
    const messages = running.lines().map(({ msg }) => msg ?? '');
    expect(messages).toContain('started leading');
    expect(messages.some((message) => message.includes('kcmNodeMonitorGraceDuration'))).toBe(true);
    const scaled = /dwd_prober_scale_operations_total\{[^}]*direction="down",result="scaled"\} 2/;
    await until('both are counted', running, () => hasMetric(scaled));
  });

  it('releases the Lease when it stops, and leaves held resources held', async () => {
    expect((await electionLease()).spec.holderIdentity).toBe('');
    expect((await getDeployment(world.seed.client, namespace, kcm)).spec.replicas).toBe(0);
  });

  it('restores the held resources of an earlier program, with rights only for the configured names', async () => {
    const kubelets = world.startKubelets();
    const running = await start([...narrowed, ...electionRules]);
    await untilReady(running);
    await world.untilCounts({ [kcm]: 2, [mcm]: 3 });
    expect([await world.marksOf(kcm), await world.marksOf(mcm)]).toEqual([{}, {}]);
    const user = `system:serviceaccount:garden:dependency-watchdog-prober-${String(accounts)}`;
    const refused = world.seed.requests().filter((request) => request.user === user && request.status === 403);
    // Events of shoots, and the Leases of installations in other namespaces: both are left out without the right.
    const isOptional = (uri: string): boolean => /\/events|^\/apis\/coordination.k8s.io\/v1\/leases\?/.test(uri);
    expect(refused.filter(({ uri }) => !isOptional(uri))).toEqual([]);
    await kubelets.stop();
  });

  it.each([
    ['secrets', 'kubeconfig-secrets'],
    ['clusters', 'clusters'],
    ['deployments', 'apps/v1/Deployment/kube-controller-manager'],
  ])('is not ready without the right to watch %s, and reports it', async (resource, check) => {
    const running = await start([...without(resource), ...electionRules]);
    const named = new RegExp(`\\[-\\] ${check}: not ready \\(.*${resource}.* forbidden`);
    const answer = await until(`readyz that names ${resource}`, running, async () => {
      const found = await readyz();
      return found !== undefined && named.test(found.body) ? found : undefined;
    });
    expect(answer.status).toBe(503);
    expect(running.output()).toMatch(new RegExp(`${resource}[^\\n]* forbidden`));
  });

  it('never leads without rights on the Lease, and logs the missing right', async () => {
    const running = await start(seedRules);
    await until(
      'a log line',
      running,
      () => running.output().includes(leaseName) && running.output().includes('forbidden'),
    );
    expect(running.lines().map(({ msg }) => msg)).not.toContain('started leading');
  });

  it('scales nothing without the right to list machines, and logs the missing right', async () => {
    const running = await start([...without('machines'), ...electionRules]);
    // Once the leases are old, runs that fail are repeated every 2 s.
    const failed = /dwd_prober_runs_total\{[^}]*result="machine_list_failed"[^}]*\} (1[5-9]|[2-9]\d)/;
    await until('runs with expired leases', running, () => hasMetric(failed).catch(() => false));
    expect(running.output()).toMatch(/machines[^\n]* forbidden/);
    expect(running.output()).toContain('probe failed: it gives no verdict');
    expect((await getDeployment(world.seed.client, namespace, kcm)).spec.replicas).toBe(2);
  });
});
