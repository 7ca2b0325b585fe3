import { join } from 'node:path';
import { type TestClient, createTestClient } from '../../envtest/client.ts';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { startControllerManager } from '../../envtest/controller-manager.ts';
import { startDeploymentController } from '../../envtest/deployment-controller.ts';
import type { Kubeconfig } from '../../envtest/kubeconfig.ts';
import type { Kubelets } from '../../envtest/shoot.ts';
import { proberValues, renderChart, weederValues } from './helm.ts';
import { createMill, startMillController } from './mill.ts';
import type { Program } from './program.ts';
import { type ProberWorld, shootNamespace, startProberWorld } from './prober-world.ts';

type Component = 'prober' | 'weeder';

/** A seed with the objects of the chart for prober and weeder, policies included, and a shoot to which nobody has access yet. */
export interface InstalledSeed extends ProberWorld {
  readonly kubelets: Kubelets;
  /** Applies the chart with other values of the policies, in place of the former ones. */
  apply(policy?: object): Promise<void>;
  /** Resolves to a kubeconfig and a client of a component's ServiceAccount. */
  identityOf(component: Component): Promise<Kubeconfig & { readonly client: TestClient }>;
  /** Starts a component as its ServiceAccount. Resolves when it leads and has verified its rights and, for the prober, a shoot is healthy. */
  startComponent(component: Component): Promise<Program>;
  /** Returns the requests of a component that the seed's API server has refused. */
  refusedTo(component: Component): readonly string[];
}

/** Starts the controller that creates tokens for Secrets of ServiceAccounts. */
const startTokenController = (shoot: ControlPlane) => {
  const pki = join(shoot.directory, 'pki');
  const flags = {
    'service-account-private-key-file': join(pki, 'service-account.key'),
    'root-ca-file': join(pki, 'ca.crt'),
  };
  return startControllerManager(shoot, { controllers: ['serviceaccount-token-controller'], flags });
};

const flags = [
  ...['--enable-leader-election', '--kube-api-qps=100', '--kube-api-burst=200'],
  ...['--metrics-bind-addr=0', '--health-bind-addr=0'],
];

export const startInstalled = async (configs: Readonly<Record<Component, string>>): Promise<InstalledSeed> => {
  const world = await startProberWorld('installed');
  const { seed, shoot, use } = world;
  const apply: InstalledSeed['apply'] = async (policy) => {
    for (const kind of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies']) {
      await seed.kubectl(['delete', kind, '--all']);
    }
    const components = { prober: proberValues(configs.prober), weeder: weederValues(configs.weeder) };
    const values = { ...components, operator: { enabled: true }, policy: { enabled: true, ...policy } };
    await seed.kubectl(['apply', '-f', '-'], await renderChart({ values, flags: ['--no-hooks'] }));
  };
  const identityOf: InstalledSeed['identityOf'] = async (component) => {
    const access = await seed.serviceAccountKubeconfig({ namespace: 'garden', name: `dwd-${component}` });
    const { host, port, caPem } = seed;
    return { ...access, client: createTestClient({ host, port, caPem, token: access.token }) };
  };

  const kubelets = world.startKubelets();
  await world.createShoot();
  await seed.client.delete(`/api/v1/namespaces/${shootNamespace}/secrets/shoot-access-prober`);
  await createMill(seed.client, shootNamespace, 4);
  await seed.client.create('/api/v1/namespaces', { metadata: { name: 'garden' } });
  await apply();
  use(await startTokenController(shoot));
  // This controller type-checks the expressions of policies.
  use(await startControllerManager(seed, { controllers: ['validatingadmissionpolicy-status-controller'] }));
  for (const start of [startDeploymentController, startMillController]) use(start(seed.client));

  return {
    ...{ ...world, kubelets, apply, identityOf },
    startComponent: async (component) => {
      const { file } = await identityOf(component);
      const config = world.file(`${component}.yaml`, configs[component]);
      const program = world.start([component, `--config-file=${config}`, `--kubeconfig=${file}`, ...flags]);
      const isHealthy = (): boolean => program.lines().some(({ verdict }) => verdict === 'healthy');
      const has = (text: string): boolean => program.lines().some(({ msg }) => msg === text);
      await world.until(
        `the ${component} to lead`,
        () => has('no right is missing') && has('started leading') && (component === 'weeder' || isHealthy()),
      );
      return program;
    },
    refusedTo: (component) =>
      seed
        .requests()
        .filter(({ user, status }) => status === 403 && user.endsWith(`:dwd-${component}`))
        .map(({ verb, uri }) => `${verb} ${uri}`),
  };
};
