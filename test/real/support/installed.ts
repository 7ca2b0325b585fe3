import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestClient } from '../../envtest/client.ts';
import { type ControlPlane, startControlPlane } from '../../envtest/control-plane.ts';
import { startControllerManager } from '../../envtest/controller-manager.ts';
import { startDeploymentController } from '../../envtest/deployment-controller.ts';
import { type Kubeconfig, clientFromKubeconfig } from '../../envtest/kubeconfig.ts';
import {
  type Kubelets,
  createCluster,
  createDeployment,
  createMachines,
  createNodes,
  startKubelets,
} from '../../envtest/shoot.ts';
import { waitFor } from '../../envtest/waiting.ts';
import { auditInto } from './audit.ts';
import { proberValues, renderChart, weederValues } from './helm.ts';
import { createMill, startMillController } from './mill.ts';
import { type Program, startProgram } from './program.ts';

type Component = 'prober' | 'weeder';
export type Configs = Readonly<Record<Component, string>>;

/** A seed with the objects of the chart for prober and weeder, policies included, and a shoot to which nobody has access yet. */
export interface InstalledSeed {
  readonly seed: ControlPlane;
  readonly shoot: ControlPlane;
  /** Kubelets of the shoot's three nodes. */
  readonly kubelets: Kubelets;
  readonly directory: string;
  /** Applies the chart with the configurations, and with other values of the policies. */
  apply(policy?: object): Promise<void>;
  /** Resolves to a kubeconfig and a client of a component's ServiceAccount. */
  identityOf(component: Component): Promise<Kubeconfig & { readonly client: TestClient }>;
  /** Starts a component as its ServiceAccount. Resolves when it leads and has verified its rights and, for the prober, a shoot is healthy. */
  start(component: Component): Promise<Program>;
  /** Returns the requests of a component that the seed's API server has refused. */
  refusedTo(component: Component): readonly string[];
  stop(): Promise<void>;
}

export const controlPlane = 'shoot--test--one';

/** Configuration of a prober that scales kube-controller-manager. */
export const installedProberConfig = `kubeConfigSecretName: shoot-access-prober
probeInterval: 1s
initialDelay: 1s
probeTimeout: 5s
kcmNodeMonitorGraceDuration: 8s
# One outage follows the other here: the shoot is not to count as flapping.
landingTimeout: 0s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    scaleUp: {level: 0, timeout: 20s}
    scaleDown: {level: 0, timeout: 20s}`;

const nodes = ['node-a', 'node-b', 'node-c'];

const createControlPlane = async (seed: TestClient): Promise<void> => {
  await createCluster(seed, {
    name: controlPlane,
    shoot: {
      spec: { provider: { workers: [{ name: 'pool' }] } },
      status: { lastOperation: { type: 'Reconcile', state: 'Succeeded' } },
    },
  });
  await createMachines(seed, { namespace: controlPlane, nodes });
  const annotations = { owner: 'gardenlet' };
  await createDeployment(seed, controlPlane, { name: 'kube-controller-manager', replicas: 2, annotations });
  await createMill(seed, controlPlane, 4);
};

/** Starts the controller that creates tokens for Secrets of ServiceAccounts. */
const startTokenController = (shoot: ControlPlane) => {
  const pki = join(shoot.directory, 'pki');
  return startControllerManager(shoot, {
    controllers: ['serviceaccount-token-controller'],
    flags: {
      'service-account-private-key-file': join(pki, 'service-account.key'),
      'root-ca-file': join(pki, 'ca.crt'),
    },
  });
};

const startControllers = async (seed: ControlPlane, shoot: ControlPlane) => [
  await startTokenController(shoot),
  // This controller type-checks the expressions of policies.
  await startControllerManager(seed, { controllers: ['validatingadmissionpolicy-status-controller'] }),
  startDeploymentController(seed.client, controlPlane),
  startMillController(seed.client, controlPlane),
];

const startFlags = [
  '--enable-leader-election',
  '--kube-api-qps=100',
  '--kube-api-burst=200',
  '--metrics-bind-addr=0',
  '--health-bind-addr=0',
];

/** Resolves when the component leads and has verified its rights and, for the prober, a shoot is healthy. */
const untilLeads = async (component: Component, program: Program): Promise<void> => {
  const isHealthy = (): boolean => program.lines().some(({ verdict }) => verdict === 'healthy');
  const has = (text: string): boolean => program.lines().some(({ msg }) => msg === text);
  await waitFor(
    { what: `the ${component} to lead`, detail: program.output },
    () => has('no right is missing') && has('started leading') && (component === 'weeder' || isHealthy()),
  );
};

export const startInstalled = async (configs: Configs): Promise<InstalledSeed> => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-installed-'));
  const audit = auditInto(directory);
  const [seed, shoot] = await Promise.all([
    startControlPlane({ name: 'seed', apiServerFlags: audit.flags }),
    startControlPlane({ name: 'shoot', kinds: [] }),
  ]);
  const programs: Program[] = [];
  const configFile = (component: Component): string => join(directory, `${component}.yaml`);
  for (const component of ['prober', 'weeder'] as const) writeFileSync(configFile(component), configs[component]);

  const run = (...args: readonly string[]): Program => {
    const program = startProgram(args);
    programs.push(program);
    return program;
  };
  const apply: InstalledSeed['apply'] = async (policy) => {
    const components = { prober: proberValues(configs.prober), weeder: weederValues(configs.weeder) };
    const values = { ...components, operator: { enabled: true }, policy: { enabled: true, ...policy } };
    await seed.kubectl(['apply', '-f', '-'], await renderChart({ values, flags: ['--no-hooks'] }));
  };
  const identityOf: InstalledSeed['identityOf'] = async (component) => {
    const access = await seed.serviceAccountKubeconfig({ namespace: 'garden', name: `dwd-${component}` });
    return { ...access, client: clientFromKubeconfig(access.text) };
  };

  await createNodes(shoot.client, nodes);
  const kubelets = startKubelets(shoot.client, nodes);
  for (const name of ['garden', controlPlane]) await seed.client.create('/api/v1/namespaces', { metadata: { name } });
  await apply();
  await createControlPlane(seed.client);
  const controllers = await startControllers(seed, shoot);

  return {
    ...{ seed, shoot, kubelets, directory, apply, identityOf },
    start: async (component) => {
      const { file } = await identityOf(component);
      const program = run(component, `--config-file=${configFile(component)}`, `--kubeconfig=${file}`, ...startFlags);
      await untilLeads(component, program);
      return program;
    },
    refusedTo: (component) =>
      audit
        .requests()
        .filter(({ user, status }) => status === 403 && user.endsWith(`:dwd-${component}`))
        .map(({ verb, uri }) => `${verb} ${uri}`),
    stop: async () => {
      for (const program of programs) program.signal('SIGKILL');
      await kubelets.stop();
      await Promise.all(controllers.map((controller) => controller.stop()));
      await Promise.all([seed.stop(), shoot.stop()]);
      rmSync(directory, { recursive: true });
    },
  };
};
