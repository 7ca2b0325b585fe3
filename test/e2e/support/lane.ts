import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import {
  createDeployment,
  createMachines,
  createProtectedShoot,
  getDeployment,
  seedRules,
  shootRules,
} from '../../envtest/shoot.ts';
import { waitFor } from '../../envtest/waiting.ts';
import { type Mill, createMill, millPath, millRules } from './mill.ts';
import { type Program, startProgram } from './program.ts';
import { type WriteProxy, startWriteProxy } from './write-proxy.ts';

export const prefix = 'dependency-watchdog.gardener.cloud';

/** The dependent resources of a lane, with their counts. */
export interface ReplicaCounts {
  'kube-controller-manager': number;
  'machine-controller-manager': number;
  mill: number;
}

export type Dependent = keyof ReplicaCounts;
export const dependents: readonly Dependent[] = ['kube-controller-manager', 'machine-controller-manager', 'mill'];

/** What a watchdog changes in a dependent resource. */
export interface DependentState {
  readonly count: number;
  readonly annotations: Readonly<Record<string, string>>;
}

/** One protected shoot in a seed that others share, with a program of its own that sees no other, behind a proxy of its own. */
export interface Lane {
  readonly name: string;
  readonly proxy: WriteProxy;
  /** What the resources should be at while all is well. */
  readonly expected: ReplicaCounts;
  program(): Program;
  start(): Promise<void>;
  kill(): Promise<void>;
  state(dependent: Dependent): Promise<DependentState>;
  stop(): Promise<void>;
}

export interface LaneOptions {
  readonly name: string;
  readonly seed: ControlPlane;
  readonly shoot: ControlPlane;
  readonly nodes: readonly string[];
  /** Text of the prober's configuration. */
  readonly config: string;
  /** Of the test; takes files. */
  readonly directory: string;
}

export const createLane = async ({ name, seed, shoot, nodes, config, directory }: LaneOptions): Promise<Lane> => {
  const namespace = `shoot--test--${name}`;
  const { client } = seed;
  const expected: ReplicaCounts = { 'kube-controller-manager': 2, 'machine-controller-manager': 3, mill: 4 };
  const access = await shoot.kubeconfigFor({ user: `prober-${name}`, rules: shootRules });
  const proxy = await startWriteProxy(seed, {
    user: `dwd-${name}`,
    rules: [...seedRules, ...millRules],
    onlyClusters: { fieldSelector: `metadata.name=${namespace}` },
  });
  await createProtectedShoot(seed, { namespace, kubeconfig: access.text });
  await createMachines(client, { namespace, nodes });
  for (const deployment of ['kube-controller-manager', 'machine-controller-manager'] as const) {
    await createDeployment(client, namespace, { name: deployment, replicas: expected[deployment] });
  }
  await createMill(client, namespace, expected.mill);
  const [configFile, kubeconfig] = [join(directory, `${name}.yaml`), join(directory, `${name}.kubeconfig`)];
  writeFileSync(configFile, config);
  writeFileSync(kubeconfig, proxy.kubeconfig, { mode: 0o600 });
  let program: Program | undefined;

  const running = (): Program => {
    if (program === undefined) throw new Error(`lane ${name}: not started`);
    return program;
  };
  const kill = async (): Promise<void> => {
    running().signal('SIGKILL');
    await running().ended;
  };
  return {
    name,
    proxy,
    expected,
    program: running,
    start: async () => {
      const started = startProgram([
        'prober',
        `--config-file=${configFile}`,
        `--kubeconfig=${kubeconfig}`,
        '--metrics-bind-addr=0',
        '--health-bind-addr=0',
        // A program that starts fills its caches, and waits for nothing.
        '--kube-api-qps=100',
        '--kube-api-burst=200',
      ]);
      program = started;
      await waitFor({ what: `lane ${name} probes`, withinMs: 60_000, detail: started.output }, () =>
        started.output().includes('probing begins'),
      );
    },
    kill,
    state: async (dependent) => {
      const isMill = dependent === 'mill';
      const mill = isMill ? await client.get<Mill>(millPath(namespace)) : undefined;
      const workload = mill ?? (await getDeployment(client, namespace, dependent));
      const marks = Object.entries(workload.metadata.annotations ?? {}).filter(([key]) => key.startsWith(prefix));
      const count = 'wheel' in workload.spec ? workload.spec.wheel.count : workload.spec.replicas;
      // Its text differs from write to write.
      const shown = marks.map(([key, value]) => [key, key === `${prefix}/held` ? 'noted' : value]);
      return { count, annotations: Object.fromEntries(shown) as Readonly<Record<string, string>> };
    },
    stop: async () => {
      if (program !== undefined) await kill();
      await proxy.stop();
    },
  };
};
