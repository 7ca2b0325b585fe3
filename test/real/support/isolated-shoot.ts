import { createProtectedShoot, createDependents, getDeployment, seedRules, shootRules } from '../../envtest/shoot.ts';
import { type Mill, createMill, millPath, millRules } from './mill.ts';
import { type ProberBehindProxy, proberBehindProxy } from './prober-behind-proxy.ts';
import { type Dependent, type ProberWorld, kcm, mcm, nodes, prefix, quickConfig } from './prober-world.ts';

export const dependents: readonly Dependent[] = [kcm, mcm, 'mill'];

/** The parts of a dependent resource that a watchdog changes. */
export interface DependentState {
  readonly count: number;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A protected shoot in a shared seed, with its own watchdog, which sees no other shoot, behind its own proxy. */
export interface IsolatedShoot extends Omit<ProberBehindProxy, 'start'> {
  readonly name: string;
  /** Counts of the resources while the shoot is healthy. */
  readonly expected: Record<Dependent, number>;
  start(): Promise<void>;
  state(dependent: Dependent): Promise<DependentState>;
}

const stateOf = async ({ seed }: ProberWorld, namespace: string, dependent: Dependent): Promise<DependentState> => {
  const mill = dependent === 'mill' ? await seed.client.get<Mill>(millPath(namespace)) : undefined;
  const workload = mill ?? (await getDeployment(seed.client, namespace, dependent));
  const annotations = Object.entries(workload.metadata.annotations ?? {})
    .filter(([key]) => key.startsWith(prefix))
    // The text of the annotation `held` differs in each write.
    .map(([key, value]) => [key, key === `${prefix}/held` ? 'noted' : value] as const);
  const count = 'wheel' in workload.spec ? workload.spec.wheel.count : workload.spec.replicas;
  return { count, annotations: Object.fromEntries(annotations) };
};

export const createIsolatedShoot = async (world: ProberWorld, name: string): Promise<IsolatedShoot> => {
  const namespace = `shoot--test--${name}`;
  const { seed, shoot, directory } = world;
  const { text: kubeconfig } = await shoot.kubeconfigFor({ user: `prober-${name}`, rules: shootRules });
  const configFile = world.file(`${name}.yaml`, quickConfig(dependents, { probeInterval: '500ms' }));
  const prober = await proberBehindProxy({
    ...{ seed, configFile, directory },
    user: `dwd-${name}`,
    rules: [...seedRules, ...millRules],
    onlyClusters: { fieldSelector: `metadata.name=${namespace}` },
  });
  await createProtectedShoot(seed, { namespace, kubeconfig });
  await createDependents(seed.client, { namespace, nodes, counts: { [kcm]: 2, [mcm]: 3 } });
  await createMill(seed.client, namespace, 4);
  return {
    ...world.use(prober),
    name,
    expected: { [kcm]: 2, [mcm]: 3, mill: 4 },
    start: async () => {
      const { output } = prober.start();
      await world.until(`shoot ${name} probes`, () => output().includes('probing begins'));
    },
    state: (dependent) => stateOf(world, namespace, dependent),
  };
};
