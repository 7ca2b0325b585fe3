import { KubeconfigError } from '../kubernetes/api/errors.ts';
import type { ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import { type ResourceRef, refKey } from '../kubernetes/api/resource-ref.ts';
import { createKubeconfigCache, createShootConnector, withShootPolicy } from '../kubernetes/connection/index.ts';
import { type ClusterCommand, type CommandContext, CommandError, withCluster } from '../process/index.ts';
import { type ProberSettings, sourceOf } from '../prober/index.ts';
import { NoSuchShoot, findShoot, namedShoot } from '../status/state/find-shoot.ts';
import { plural } from '../status/state/words.ts';
import { apiServers, checkApiServers } from './checks/api-servers.ts';
import { type PreflightCheck, type PreflightFinding, statusOf } from './checks/check.ts';
import {
  type KindUse,
  type SeedAnswer,
  apiServer,
  checkKind,
  checkImages,
  checkProbers,
  checkRights,
  checkSeed,
  ownRights,
} from './checks/seed.ts';
import {
  type SeedShoot,
  type SeenResources,
  type ShootToProbe,
  checkDependent,
  checkGrace,
  checkMargin,
  checkSecrets,
  checkShoots,
  kcmAmong,
  probedAmong,
} from './checks/shoots.ts';
import { readShoots } from './read-clusters.ts';
import { readResources, readSecrets } from './read-objects.ts';
import { type RightsOf, readImages, readKind, readProbers, readRights, readVersion } from './read-seed.ts';
import { askShoots, judgeSecrets } from './read-shoots.ts';
import { ReadFailed, type Reader, check, started } from './reader.ts';

/** `timeoutMs` is that of the whole preflight. */
export interface PreflightRun extends ClusterCommand {
  readonly settings: ProberSettings;
  /** Name of the configuration file, and its warnings, a line each. */
  readonly configFile: string;
  readonly configWarnings: readonly string[];
  /** Shoot to check, by any of its names. Absent for all shoots. */
  readonly shoot?: string;
  /** Owner of the rights to check. */
  readonly rightsOf: RightsOf | 'none';
  /** True if the API servers of the shoots are checked as well. */
  readonly shootApiServers: boolean;
}

/** 0: all checks passed. 1: a check failed or has a warning. 2: no check failed, but some could not be made. */
export type PreflightExitCode = 0 | 1 | 2;

export interface PreflightReport {
  /** Checks, in the order of the headings. */
  readonly checks: readonly PreflightCheck[];
  readonly exitCode: PreflightExitCode;
}

const reportOf = (checks: readonly PreflightCheck[]): PreflightReport => {
  const statuses = new Set(checks.map(statusOf));
  const isBad = statuses.has('failed') || statuses.has('warning');
  return { checks, exitCode: isBad ? 1 : statuses.has('unknown') ? 2 : 0 };
};

/** Deployment of KCM, with the name that Gardener gives it. */
const kcmRef: ResourceRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kube-controller-manager' };

const gardenKinds = {
  cluster: { apiVersion: 'extensions.gardener.cloud/v1alpha1', kind: 'Cluster', name: 'Cluster of Gardener' },
  machine: {
    apiVersion: 'machine.sapcloud.io/v1alpha1',
    kind: 'Machine',
    name: 'Machine of machine-controller-manager',
  },
} as const;

/** A preflight of a seed that responds. */
interface Preflight {
  readonly run: PreflightRun;
  readonly reader: Reader;
  readonly seed: SeedAnswer;
  readonly connector: ShootConnector;
}

const emptyIfUnread = (error: unknown): readonly [] => {
  if (error instanceof ReadFailed) return [];
  throw error;
};

const chosenAmong = (shoots: readonly SeedShoot[], wanted: string | undefined): readonly SeedShoot[] => {
  if (wanted === undefined) return shoots;
  const named = shoots.map((shoot) => ({ ...namedShoot(shoot.cluster.name, shoot.cluster.shootName), shoot }));
  const found = findShoot(named, wanted);
  if (found === undefined) throw new NoSuchShoot(wanted, named);
  return [found.shoot];
};

/** Starts to read how the seed serves the kinds that the prober works on. */
const readKinds = ({ clusterSource, dependentResources }: ProberSettings, reader: Reader) => {
  const uses: readonly KindUse[] = [
    ...(clusterSource === undefined ? (['cluster', 'machine'] as const) : []),
    ...dependentResources,
  ];
  return uses.map((use) => {
    const kind = typeof use === 'string' ? gardenKinds[use] : use.ref;
    const name = typeof use === 'string' ? gardenKinds[use].name : refKey(use.ref);
    return { use, name, found: readKind(reader, kind) };
  });
};

type ReadKinds = ReturnType<typeof readKinds>;

/** Starts to list each resource once, even if the configuration names it several times. Undefined: its kind is not served. */
const readAllResources = (
  kinds: ReadKinds,
  namespace: string | undefined,
  { run, reader }: Preflight,
): ReadonlyMap<string, Promise<SeenResources | undefined>> => {
  const refs = [kcmRef, ...run.settings.dependentResources.map(({ ref }) => ref)];
  return new Map(
    refs.map((ref) => {
      const found = kinds.find(({ name }) => name === refKey(ref))?.found ?? readKind(reader, ref);
      const read = found.then((kind) => readResources(reader, ref, { found: kind, namespace }));
      return [refKey(ref), started(read)];
    }),
  );
};

/** Checks the prober's use of the seed itself. */
const checkUse = (kinds: ReadKinds, { run, reader }: Preflight) => {
  const { settings, rightsOf: of } = run;
  const owner = of === 'self' || of === 'none' ? ownRights : `${of.namespace}/${of.name}`;
  return [
    ...kinds.map(({ use, name, found }) => check({ subject: 'kinds', name }, async () => checkKind(use, await found))),
    of === 'none'
      ? leftOut({ subject: 'rights', name: 'of the prober' }, '--rights-of=none')
      : check({ subject: 'rights', name: `of ${owner}` }, async () =>
          checkRights(owner, await readRights(reader, settings, of)),
        ),
  ];
};

const leftOut = (about: Pick<PreflightCheck, 'subject' | 'name'>, detail: string) =>
  check(about, async () => [{ ...about, detail, findings: [], leftOut: true }]);

type Probed = Promise<readonly ShootToProbe[]>;

/** Checks the dependent resources of each shoot, and the grace period of its KCM. */
const checkResources = (probed: Probed, resources: ReturnType<typeof readAllResources>, settings: ProberSettings) => {
  const { dependentResources, nodeMonitorGraceMs } = settings;
  const kcmKey = refKey(kcmRef);
  const kcm = async (): Promise<SeenResources | undefined> => {
    const others = [...resources].filter(([key]) => key !== kcmKey);
    const seen = await Promise.all(others.map(async ([, read]) => read.catch(emptyIfUnread)));
    const found = kcmAmong(seen.flatMap((one) => (one instanceof Map ? [one] : [])));
    const named = resources.get(kcmKey);
    return found.size === 0 ? named : new Map([...((await named?.catch(emptyIfUnread)) ?? []), ...found]);
  };
  return [
    ...dependentResources.map(({ ref, optional }) => {
      const key = refKey(ref);
      return check({ subject: 'dependent resources', name: key }, async () => {
        const seen = await resources.get(key);
        return seen === undefined ? [] : checkDependent(await probed, seen, { key, optional });
      });
    }),
    check({ subject: 'grace period', name: '--node-monitor-grace-period of KCM' }, async () => {
      const seen = await kcm();
      return seen === undefined ? [] : checkGrace(await probed, seen, nodeMonitorGraceMs);
    }),
    check(
      { subject: 'grace period', name: 'left when KCM is scaled down' },
      async () => checkMargin(await probed, settings) ?? [],
    ),
  ];
};

/** Checks the Secrets of the shoots, and asks the API servers of those whose kubeconfig is usable. */
const checkAccess = (probed: Probed, namespace: string | undefined, preflight: Preflight) => {
  const { run, reader, seed, connector } = preflight;
  const { kubeConfigSecretName, externalProbe } = run.settings;
  const secretsNamed = (name: string) =>
    started(
      readSecrets(reader, name, { settings: run.settings, namespace }).then((texts) => judgeSecrets(texts, connector)),
    );
  const secrets = secretsNamed(kubeConfigSecretName);
  const checkNamed = (name: string, read: typeof secrets, isExternal: boolean) =>
    check({ subject: 'secrets', name }, async () => checkSecrets(await probed, await read, { name, isExternal }));
  const external = externalProbe?.kubeConfigSecretName;
  const ask = async (): Promise<readonly PreflightCheck[]> => {
    const shoots = await probed;
    const seen = await secrets;
    const usable = shoots.flatMap(({ namespace: name, settings: { poolConditions } }) => {
      const { text, problem } = seen.get(name) ?? {};
      if (text === undefined || problem !== undefined) return [];
      return [{ namespace: name, kubeconfig: text, poolConditions }];
    });
    const progress = (done: number): void =>
      run.progress(`checking the API servers of shoots: ${String(done)} of ${String(usable.length)}`);
    const { lists } = sourceOf(run.settings);
    const asked = { connector, shoots: usable, lists, seedSkewMs: seed.skewMs, progress };
    return checkApiServers(await askShoots(asked, reader));
  };
  return {
    secrets: [
      checkNamed(kubeConfigSecretName, secrets, false),
      ...(external === undefined ? [] : [checkNamed(external, secretsNamed(external), true)]),
    ],
    answers: run.shootApiServers ? check(apiServers, ask) : leftOut(apiServers, '--shoot-api-servers=false'),
  };
};

/** Checks the replicas of the prober that leads, if one does. */
const checkReplicas = async (
  leaders: ReadonlyMap<string, string>,
  reader: Reader,
): Promise<readonly PreflightCheck[]> => {
  const [leading] = [...leaders].filter(([, leader]) => leader !== '');
  const images = leading && (await readImages(reader, ...leading));
  if (images === undefined || images.size === 0) return [];
  return [{ subject: 'seed', name: 'replicas', ...checkImages(images) }];
};

/** Makes all checks, in the order of the headings. Rejects with a NoSuchShoot, or with the reason of `run.stop`. */
export const checkAll = async (preflight: Preflight): Promise<readonly PreflightCheck[]> => {
  const { run, reader, seed } = preflight;
  const { settings } = run;
  run.progress('reading the Clusters of the seed');
  const probers = readProbers(reader, seed);
  const kinds = readKinds(settings, reader);
  const shoots = started(readShoots(reader, settings).then((all) => chosenAmong(all, run.shoot)));
  const [first] = await shoots.catch(emptyIfUnread);
  const namespace = run.shoot === undefined ? undefined : first?.cluster.name;
  run.progress('reading Secrets, dependent resources and rights');
  const probed = started(shoots.then(probedAmong));
  const { secrets, answers } = checkAccess(probed, namespace, preflight);
  const checks = await Promise.all([
    // Without the right to list these Leases nothing is reported, because the probers look for each other as well.
    probers.then(checkProbers, emptyIfUnread),
    // Likewise of the pods: the prober's own account may not list them.
    probers.then((leaders) => checkReplicas(leaders, reader)).catch(emptyIfUnread),
    ...checkUse(kinds, preflight),
    check({ subject: 'shoots', name: 'Clusters' }, async () => checkShoots(await shoots)),
    ...secrets,
    ...checkResources(probed, readAllResources(kinds, namespace, preflight), settings),
    answers,
  ]);
  return [...checkSeed(seed), ...checks.flat()];
};

const checkConfig = (file: string, warnings: readonly string[]): PreflightCheck => ({
  subject: 'configuration',
  name: file,
  detail: warnings.length === 0 ? 'valid' : `valid, with ${plural(warnings.length, 'warning')}`,
  findings: warnings.map((detail) => ({ code: 'config-warning', detail })),
});

/** Reports a seed that does not respond. All other checks are omitted. */
const outOfReach = (finding: PreflightFinding): PreflightReport => ({
  checks: [{ ...apiServer, detail: 'could not be checked', findings: [finding] }],
  exitCode: 2,
});

const checkSeedWith = async (run: PreflightRun, reader: CommandContext): Promise<PreflightReport> => {
  run.progress('connecting to the seed');
  const seed = await readVersion(reader);
  const shoots = createShootConnector({ ...reader, known: createKubeconfigCache(run) });
  const connector = withShootPolicy(shoots, run.settings);
  const checks = await checkAll({ run, reader, seed, connector });
  return reportOf([checkConfig(run.configFile, run.configWarnings), ...checks]);
};

/** Runs `dwd preflight`: reads a seed and its shoots, and writes nothing. Rejects with a CommandError, or with a NoSuchShoot. */
export const runPreflight = async (run: PreflightRun): Promise<PreflightReport> => {
  try {
    return await withCluster(run, (context) => checkSeedWith(run, context));
  } catch (error) {
    if (run.stop.aborted) throw new CommandError('interrupted before all checks were made', [], 2);
    if (error instanceof ReadFailed) return outOfReach(error.finding);
    if (error instanceof KubeconfigError) return outOfReach({ code: 'seed-unreachable', detail: error.message });
    throw error;
  }
};
