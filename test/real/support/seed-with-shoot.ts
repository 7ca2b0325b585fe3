import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { startControllerManager } from '../../envtest/controller-manager.ts';
import type { ServerFlags } from '../../envtest/flags.ts';
import { type Kubelets, electionRules, getDeployment, isAt, seedRules, startKubelets } from '../../envtest/shoot.ts';
import { waitFor } from '../../envtest/waiting.ts';
import type { AuditedRequest } from './audit.ts';
import { chart, imageValues, proberValues, runHelm } from './helm.ts';
import { NodeAgent } from './node-agent.ts';
import { type ProberWorld, kcm, mcm, nodes, shootNamespace, startProberWorld } from './prober-world.ts';

export { kcm, mcm, shootNamespace };

/** Returns a configuration with which the prober reacts to an outage within seconds. */
const quickProberConfig = (probeTimeout: string, dependents: readonly string[] = [kcm, mcm]): string => `
kubeConfigSecretName: shoot-access-prober
probeInterval: 1s
initialDelay: 0s
probeTimeout: ${probeTimeout}
backoffJitterFactor: 0.1
kcmNodeMonitorGraceDuration: 8s
dependentResourceInfos:
${dependents
  .map(
    (name, level) => `
  - ref: {apiVersion: apps/v1, kind: Deployment, name: ${name}}
    scaleUp: {level: ${String(level)}, timeout: 10s}
    scaleDown: {level: ${String(1 - level)}, timeout: 20s}`,
  )
  .join('')}
`;

/** Values of the chart for the prober alone. One outage follows the other: the shoot is not to count as flapping. */
export const quickValues = (probeTimeout: string, dependents?: readonly string[]) => {
  const { config } = proberValues(quickProberConfig(probeTimeout, dependents));
  return { prober: { config: { ...config, landingTimeout: '0s' } }, weeder: { enabled: false } };
};

/**
 * A seed with Kubernetes' own controllers and a node agent, so that installed pods run, and one shoot with three nodes, two replicas of
 * kube-controller-manager and three of machine-controller-manager.
 */
export interface SeedWithShoot {
  readonly directory: string;
  readonly seed: ControlPlane;
  readonly kubelets: Kubelets;
  readonly agent: NodeAgent;
  readonly audit: ProberWorld['seedAudit'];
  /** Returns the path of a kubeconfig with the prober's rights in the seed. */
  readonly proberKubeconfig: () => Promise<string>;
  /** Runs helm in the namespace garden, with this as standard input. */
  readonly helm: (args: readonly string[], input?: string) => Promise<string>;
  /** Installs or upgrades the prober by the chart, waits, and resolves to helm's output. */
  readonly release: (version: string, change?: ReleaseChange) => Promise<string>;
  /** Writes a configuration of the prober. Returns its path. */
  readonly configFile: (probeTimeout: string, dependents?: readonly string[]) => string;
  /** Waits until this many replicas of the two are desired and ready. */
  readonly untilCounts: (kcmReplicas: number, mcmReplicas: number) => Promise<unknown>;
  /** Returns the counts that were written to the two, in order, each with its writer. */
  readonly countsSince: (at: number) => readonly string[];
  stop(): Promise<void>;
}

/** What differs from the quick configuration and the usual values. */
export interface ReleaseChange {
  readonly probeTimeout?: string;
  readonly dependents?: readonly string[];
  readonly values?: object;
  /** Further flags of helm. */
  readonly flags?: readonly string[];
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

export const startSeedWithShoot = async (name: string, apiServerFlags: ServerFlags = {}): Promise<SeedWithShoot> => {
  const world = await startProberWorld(name, apiServerFlags);
  const { directory, seed, shoot, seedAudit: audit } = world;
  const manager = await startControllerManager(seed, {
    controllers: ['deployment-controller', 'replicaset-controller', 'job-controller', 'garbage-collector-controller'],
  });
  const agent = NodeAgent.start(seed);
  const kubelets = startKubelets(shoot.client, nodes);
  await world.createShoot();

  const outputs = (): string => Array.from(agent.programs(), (program) => program.output()).join('\n');
  const untilCounts: SeedWithShoot['untilCounts'] = (...wanted) =>
    waitFor({ what: `replicas ${wanted.join(', ')}`, everyMs: 200, detail: outputs }, async () => {
      const found = await Promise.all([kcm, mcm].map((each) => getDeployment(seed.client, shootNamespace, each)));
      return found.every((deployment, index) => isAt(deployment, wanted[index]!));
    });
  const configFile: SeedWithShoot['configFile'] = (probeTimeout, dependents) => {
    const file = join(directory, `prober-${probeTimeout}-${dependents?.join('-') ?? 'all'}.yaml`);
    writeFileSync(file, quickProberConfig(probeTimeout, dependents));
    return file;
  };
  const helm: SeedWithShoot['helm'] = (args, input) =>
    runHelm([...args, '--namespace=garden', `--kubeconfig=${seed.admin.kubeconfig.file}`], input);
  const release: SeedWithShoot['release'] = (version, change = {}) => {
    const { probeTimeout = '5s', dependents, values, flags = [] } = change;
    const given = { ...quickValues(probeTimeout, dependents), image: imageValues(version), ...values };
    const args = ['upgrade', 'watchdog', chart, '--install', '--values=-', '--wait', '--timeout=10m', ...flags];
    return helm(args, JSON.stringify(given));
  };
  await untilCounts(2, 3);

  return {
    ...{ directory, seed, kubelets, agent, audit, helm, release, configFile, untilCounts },
    proberKubeconfig: async () => {
      const account = { namespace: 'garden', name: 'dependency-watchdog-prober' };
      return (await seed.serviceAccountKubeconfig({ ...account, rules: [...seedRules, ...electionRules] })).file;
    },
    countsSince: (since) => writtenCounts(audit.requests().filter(({ at }) => at >= since)),
    stop: async () => {
      await kubelets.stop();
      await agent.stop();
      await manager.stop();
      await world.stop();
    },
  };
};
