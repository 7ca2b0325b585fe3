import { parse } from 'yaml';
import { startControllerManager } from '../../envtest/controller-manager.ts';
import { type Kubelets, electionRules, seedRules } from '../../envtest/shoot.ts';
import type { AuditedRequest } from '../../envtest/audit.ts';
import { chart, imageValues, runHelm } from './helm.ts';
import { startNodeAgent } from './node-agent.ts';
import {
  type Dependent,
  type ProberWorld,
  type SeedOptions,
  kcm,
  mcm,
  quickConfig,
  shootNamespace,
  startProberWorld,
} from './prober-world.ts';
import type { Program, ProgramOptions } from './program.ts';

/** Values of the chart for the prober alone. */
export const quickValues = (dependents?: readonly Dependent[], changes?: object) => ({
  prober: { config: parse(quickConfig(dependents, changes)) as object },
  weeder: { enabled: false },
});

/**
 * A seed with Kubernetes' own controllers and a node agent, so that installed pods run, and one shoot with two replicas of
 * kube-controller-manager and three of machine-controller-manager.
 */
export interface SeedWithShoot extends ProberWorld {
  readonly kubelets: Kubelets;
  /** Returns the programs of the running pods. */
  readonly programs: () => readonly Program[];
  /** Starts an elected prober with the rights that gardenlet grants, outside of the seed's pods. */
  readonly startProber: (flags?: readonly string[], options?: ProgramOptions) => Promise<Program>;
  /** Runs helm in the namespace garden, with this as standard input. */
  readonly helm: (args: readonly string[], input?: string) => Promise<string>;
  /** Installs or upgrades the prober by the chart, waits, and resolves to helm's output. */
  readonly release: (version: string, values?: object, flags?: readonly string[]) => Promise<string>;
  /** Waits until both are restored, or held. */
  readonly untilUp: () => Promise<unknown>;
  readonly untilHeld: () => Promise<unknown>;
  /** Returns the counts that were written to the two, in order, each with its writer. */
  readonly countsSince: (at: number) => readonly string[];
}

const dependentsPath = `/apis/apps/v1/namespaces/${shootNamespace}/deployments/`;

const isScale = (uri: string): boolean => uri.split('?')[0]?.endsWith('/scale') === true;

/** Returns the counts in successful writes, as `user deployment count`. Ignores updates of controllers, which write whole objects, with the count. */
const writtenCounts = (requests: readonly AuditedRequest[]): readonly string[] =>
  requests
    .filter(({ status, verb, uri }) => {
      const isWrite = verb === 'patch' || (verb === 'update' && isScale(uri));
      return status === 200 && uri.startsWith(dependentsPath) && isWrite;
    })
    .flatMap(({ user, uri, body }) => {
      const { replicas } = (body as { readonly spec?: { readonly replicas?: number } }).spec ?? {};
      const [which = ''] = uri.slice(dependentsPath.length).split(/[/?]/);
      return replicas === undefined ? [] : [`${user} ${which} ${String(replicas)}`];
    });

export const startSeedWithShoot = async (name: string, ofSeed?: SeedOptions): Promise<SeedWithShoot> => {
  const world = await startProberWorld(name, ofSeed);
  const { seed, use, untilCounts } = world;
  const controllers = ['deployment', 'replicaset', 'job', 'garbage-collector'].map((one) => `${one}-controller`);
  use(await startControllerManager(seed, { controllers }));
  const agent = use(startNodeAgent(seed));
  const kubelets = world.startKubelets();
  await world.createShoot();
  const helm: SeedWithShoot['helm'] = (args, input) =>
    runHelm([...args, '--namespace=garden', `--kubeconfig=${seed.admin.kubeconfig.file}`], input);
  const untilUp = () => untilCounts({ [kcm]: 2, [mcm]: 3 });
  await untilUp();
  const account = { namespace: 'garden', name: 'dependency-watchdog-prober', rules: [...seedRules, ...electionRules] };
  return {
    ...{ ...world, kubelets, helm, untilUp },
    programs: () => agent.programs(),
    startProber: async (flags = [], { env, command } = {}) => {
      const { file } = await seed.serviceAccountKubeconfig(account);
      const config = world.file('prober.yaml', quickConfig());
      const servers = ['--metrics-bind-addr=0', '--health-bind-addr=0'];
      const args = ['prober', `--config-file=${config}`, '--enable-leader-election=true', ...servers, ...flags];
      return world.start(args, { env: { ...env, KUBECONFIG: file }, command });
    },
    release: (version, values = {}, flags = []) => {
      const given = { ...quickValues(), image: imageValues(version), ...values };
      const args = ['upgrade', 'watchdog', chart, '--install', '--values=-', '--wait', '--timeout=10m', ...flags];
      return helm(args, JSON.stringify(given));
    },
    untilHeld: () => untilCounts({ [kcm]: 0, [mcm]: 0 }),
    countsSince: (since) => writtenCounts(seed.requests().filter(({ at }) => at >= since)),
  };
};
