import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestClient } from '../../envtest/client.ts';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { createDependents, createProtectedShoot, getDeployment, seedRules, shootRules } from '../../envtest/shoot.ts';
import { waitFor } from '../../envtest/waiting.ts';
import { type Mill, createMill, millPath, millRules } from './mill.ts';
import { type ProberBehindProxy, proberBehindProxy } from './prober-behind-proxy.ts';

export const prefix = 'dependency-watchdog.gardener.cloud';

/** Replica counts of a shoot's dependent resources. */
export interface ReplicaCounts {
  'kube-controller-manager': number;
  'machine-controller-manager': number;
  mill: number;
}

export type Dependent = keyof ReplicaCounts;
export const dependents: readonly Dependent[] = ['kube-controller-manager', 'machine-controller-manager', 'mill'];

/** The parts of a dependent resource that a watchdog changes. */
export interface DependentState {
  readonly count: number;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A protected shoot in a shared seed, with its own watchdog, which sees no other shoot, behind its own proxy. */
export interface IsolatedShoot extends Omit<ProberBehindProxy, 'start'> {
  readonly name: string;
  /** Counts of the resources while the shoot is healthy. */
  readonly expected: ReplicaCounts;
  start(): Promise<void>;
  state(dependent: Dependent): Promise<DependentState>;
}

export interface IsolatedShootOptions {
  readonly name: string;
  readonly seed: ControlPlane;
  readonly shoot: ControlPlane;
  readonly nodes: readonly string[];
  /** Text of the prober's configuration. */
  readonly config: string;
  /** The test's directory, for files. */
  readonly directory: string;
}

const stateOf = async (client: TestClient, namespace: string, dependent: Dependent): Promise<DependentState> => {
  const mill = dependent === 'mill' ? await client.get<Mill>(millPath(namespace)) : undefined;
  const workload = mill ?? (await getDeployment(client, namespace, dependent));
  const annotations = Object.entries(workload.metadata.annotations ?? {})
    .filter(([key]) => key.startsWith(prefix))
    // The text of the annotation `held` differs in each write.
    .map(([key, value]) => [key, key === `${prefix}/held` ? 'noted' : value] as const);
  const count = 'wheel' in workload.spec ? workload.spec.wheel.count : workload.spec.replicas;
  return { count, annotations: Object.fromEntries(annotations) };
};

export const createIsolatedShoot = async ({
  name,
  seed,
  shoot,
  nodes,
  config,
  directory,
}: IsolatedShootOptions): Promise<IsolatedShoot> => {
  const namespace = `shoot--test--${name}`;
  const { client } = seed;
  const expected: ReplicaCounts = { 'kube-controller-manager': 2, 'machine-controller-manager': 3, mill: 4 };
  const access = await shoot.kubeconfigFor({ user: `prober-${name}`, rules: shootRules });
  const configFile = join(directory, `${name}.yaml`);
  writeFileSync(configFile, config);
  const prober = await proberBehindProxy({
    ...{ seed, configFile, directory },
    user: `dwd-${name}`,
    rules: [...seedRules, ...millRules],
    onlyClusters: { fieldSelector: `metadata.name=${namespace}` },
  });
  await createProtectedShoot(seed, { namespace, kubeconfig: access.text });
  const { mill, ...counts } = expected;
  await createDependents(client, { namespace, nodes, counts });
  await createMill(client, namespace, mill);
  return {
    ...prober,
    name,
    expected,
    start: async () => {
      const { output } = prober.start();
      await waitFor({ what: `shoot ${name} probes`, detail: output }, () => output().includes('probing begins'));
    },
    state: (dependent) => stateOf(client, namespace, dependent),
  };
};
