import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { proberShootGrants } from '../../../src/prober/rights.ts';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../../envtest/control-plane.ts';
import {
  type Kubelets,
  type ProtectedShoot,
  createDependents,
  createNodes,
  createProtectedShoot,
  getDeployment,
  isAt,
  startKubelets,
} from '../../envtest/shoot.ts';
import { waitFor } from '../../envtest/waiting.ts';
import { type Mill, millPath } from './mill.ts';
import { type Program, type ProgramOptions, startProgram } from './program.ts';
import { rulesOf } from './rights.ts';

export const shootNamespace = 'shoot--test--one';
export const kcm = 'kube-controller-manager';
export const mcm = 'machine-controller-manager';
export const nodes = ['node-a', 'node-b', 'node-c'];
export const prefix = 'dependency-watchdog.gardener.cloud';
/** The prober's user in the shoot. */
export const shootUser = 'prober';

const deployment = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name });
const dependentResources = {
  [kcm]: { ref: deployment(kcm), up: 0, down: 1 },
  [mcm]: { ref: deployment(mcm), up: 1, down: 0 },
  mill: { ref: { apiVersion: `test.${prefix}/v1`, kind: 'Watermill', name: 'mill' }, up: 2, down: 2 },
};
export type Dependent = keyof typeof dependentResources;

/** Returns a configuration with which the prober meets an outage within seconds. One outage follows the other: no shoot is to count as flapping. */
export const quickConfig = (dependents: readonly Dependent[] = [kcm, mcm], changes: object = {}): string => {
  const timeout = '60s';
  const dependentResourceInfos = dependents.map((name) => {
    const { ref, up, down } = dependentResources[name];
    return { ref, scaleUp: { level: up, timeout }, scaleDown: { level: down, timeout } };
  });
  const times = { probeInterval: '1s', initialDelay: '0s', probeTimeout: '5s', landingTimeout: '0s' };
  return stringify({
    kubeConfigSecretName: 'shoot-access-prober',
    ...{ ...times, backoffJitterFactor: 0.1, kcmNodeMonitorGraceDuration: '8s', dependentResourceInfos },
    ...changes,
  });
};

interface Started {
  stop(): Promise<unknown>;
}

/** Two real API servers that are audited: one of a seed, one of a shoot with three nodes. */
export interface ProberWorld {
  /** Directory for the test's files. `stop` removes it. */
  readonly directory: string;
  readonly seed: ControlPlane;
  readonly shoot: ControlPlane;
  /** Kubeconfig of the prober for the shoot. */
  readonly kubeconfig: string;
  /** Writes a file. Returns its path. */
  readonly file: (name: string, text: string) => string;
  /**
   * Creates a namespace of the seed with everything that the prober needs to protect the shoot: its Cluster, a kubeconfig (by default that of
   * `shootUser`), its Machines, two replicas of kube-controller-manager and three of machine-controller-manager.
   */
  readonly createShoot: (
    shoot?: Partial<Pick<ProtectedShoot, 'namespace' | 'kubeconfig' | 'secretName'>>,
  ) => Promise<void>;
  /** Stops it when the world stops, before all that is in use already. Returns it. */
  readonly use: <T extends Started>(started: T) => T;
  /** Starts kubelets, by default of all nodes. */
  readonly startKubelets: (names?: readonly string[], options?: Parameters<typeof startKubelets>[2]) => Kubelets;
  /** Starts the built program. It is killed when the world stops. */
  readonly start: (args: readonly string[], options?: ProgramOptions) => Program;
  /** Waits until an observation is so. An error shows the output of all programs. */
  readonly until: (what: string, isSo: () => boolean | Promise<boolean>) => Promise<unknown>;
  /** Waits until these numbers of replicas are desired, and ready. */
  readonly untilCounts: (counts: Partial<Record<Dependent, number>>, namespace?: string) => Promise<unknown>;
  /** Returns the program's annotations on a resource, by name without the prefix. */
  readonly marksOf: (name: Dependent, namespace?: string) => Promise<Readonly<Record<string, string>>>;
  stop(): Promise<void>;
}

const countsIn = async (seed: ControlPlane, namespace: string, names: readonly Dependent[]) =>
  Promise.all(
    names.map(async (name) => {
      if (name === 'mill') {
        const { metadata, spec } = await seed.client.get<Mill>(millPath(namespace));
        return { metadata, isAt: (count: number | undefined) => spec.wheel.count === count };
      }
      const found = await getDeployment(seed.client, namespace, name);
      return { metadata: found.metadata, isAt: (count = Number.NaN) => isAt(found, count) };
    }),
  );

export type SeedOptions = Omit<ControlPlaneOptions, 'name'>;

export const startProberWorld = async (name: string, ofSeed: SeedOptions = {}): Promise<ProberWorld> => {
  const directory = mkdtempSync(join(tmpdir(), `dwd-${name}-`));
  const [seed, shoot] = await Promise.all([
    startControlPlane({ name: 'seed', isAudited: true, ...ofSeed }),
    startControlPlane({ name: 'shoot', isAudited: true, kinds: [] }),
  ]);
  await createNodes(shoot.client, nodes);
  const { text: kubeconfig } = await shoot.kubeconfigFor({ user: shootUser, rules: rulesOf(proberShootGrants) });
  const inUse: Started[] = [];
  const programs: Program[] = [];
  const use: ProberWorld['use'] = (started) => {
    inUse.push(started);
    return started;
  };
  const until: ProberWorld['until'] = (what, isSo) =>
    waitFor({ what, everyMs: 200, detail: () => programs.map((program) => program.output()).join('\n') }, isSo);
  return {
    ...{ directory, seed, shoot, kubeconfig, use, until },
    file: (file, text) => {
      writeFileSync(join(directory, file), text);
      return join(directory, file);
    },
    createShoot: async ({ namespace = shootNamespace, ...access } = {}) => {
      await createProtectedShoot(seed, { namespace, kubeconfig, ...access });
      await createDependents(seed.client, { namespace, nodes, counts: { [kcm]: 2, [mcm]: 3 } });
    },
    startKubelets: (names = nodes, options) => use(startKubelets(shoot.client, names, options)),
    start: (args, options) => {
      const program = startProgram(args, options);
      programs.push(program);
      use({
        stop: () => {
          program.signal('SIGKILL');
          return program.ended;
        },
      });
      return program;
    },
    untilCounts: (counts, namespace = shootNamespace) =>
      until(`${namespace}: ${JSON.stringify(counts)}`, async () => {
        const names = Object.keys(counts) as Dependent[];
        const found = await countsIn(seed, namespace, names);
        return found.every((one, index) => one.isAt(counts[names[index]!]));
      }),
    marksOf: async (dependent, namespace = shootNamespace) => {
      const [found] = await countsIn(seed, namespace, [dependent]);
      const ours = Object.entries(found?.metadata.annotations ?? {}).filter(([key]) => key.startsWith(prefix));
      return Object.fromEntries(ours.map(([key, value]) => [key.slice(prefix.length + 1), value]));
    },
    stop: async () => {
      for (const started of inUse.splice(0).reverse()) await started.stop();
      await Promise.all([seed.stop(), shoot.stop()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
