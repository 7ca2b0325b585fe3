import type { LoadedConfig, FieldValues } from '../config/index.ts';
import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import { createKubeClient } from '../kubernetes/client/index.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import { type Component, userAgentOf } from './component.ts';
import { ConfigWatch } from './config-watch.ts';
import type { MetricsSource, ReadStatus, ReadyCheck } from './endpoints.ts';
import type { Runnable } from './lifecycle.ts';
import { OtherInstallations } from './other-installations.ts';
import type { ProcessView } from './reloadable.ts';
import { RightsCheck, leaseGrants, rightsOf } from './rights/index.ts';
import { type ProcessParts, type SeedPorts, runSeedProcess } from './seed-process.ts';
import type { ProcessOptions } from './settings.ts';

/** Dependencies of an additional server, besides those for metrics and health. */
export interface ServerDeps extends Pick<SeedPorts, 'clock' | 'logger' | 'leadership' | 'reviews'> {
  /** Lease of the leader election. Absent without leader election. */
  readonly lease?: NamespacedName;
  readonly status: ReadStatus;
}

export interface ProcessDeps<Settings> {
  readonly settings: Settings;
  readonly flags: ProcessOptions;
  /** Path of the configuration file, which is watched for changes. */
  readonly configFile: string;
  readonly readFile: (path: string) => Promise<string>;
  /** Parses the text of that file. */
  readonly load: (text: string, inForce?: FieldValues) => LoadedConfig<Settings>;
  /** Outline of the file that `settings` came from. */
  readonly outline?: FieldValues | undefined;
  /** Number of warnings about that file. */
  readonly configWarnings: number;
  /** Creates additional servers, for a component that has a status. */
  readonly servers?: (deps: ServerDeps) => readonly Runnable[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly meter: Meter & MetricsSource;
  /** Version of the program, for the User-Agent. */
  readonly version: string;
  /** Aborts when the program is to stop. */
  readonly stop: AbortSignal;
}

const dryRunCheck: ReadyCheck = { name: 'dry-run', ok: true, detail: 'nothing is written' };

/** Hints of `/readyz`: what is wrong with the installation, and keeps no replica from its work. */
const hintsOf = ({ missingRights, otherInstallations }: ProcessView): readonly ReadyCheck[] => [
  ...(missingRights.length === 0 ? [] : [{ name: 'rights', ok: true, detail: `missing: ${missingRights.join('; ')}` }]),
  ...(otherInstallations.length === 0
    ? []
    : [{ name: 'other installations', ok: true, detail: `active too: ${otherInstallations.join(', ')}` }]),
];

/** Runs a component as a process. Returns the exit code: 0 after a stop, 1 after a failure. */
export const runComponent = <Settings>(
  component: Component<Settings>,
  deps: ProcessDeps<Settings>,
): Promise<number> => {
  const { settings, configFile, configWarnings, env } = deps;
  const { dryRun } = deps.flags;
  const { urgentInFlight, runsOnStandby = false } = component;
  const userAgent = userAgentOf(deps);
  // A dry run must never take the Lease from the process that protects the seed.
  const leaseName = dryRun ? `${component.leaseName}-dry-run` : component.leaseName;
  const start = (ports: SeedPorts): ProcessParts => {
    const leadsSince = trackLeadership(ports);
    const { enabled, namespace: ownNamespace } = deps.flags.leaderElection;
    const parts = component.create({ settings, ports, ownNamespace, dryRun, userAgent, env });
    const rights = rightsChecks(component, { ...deps, ports, leaseName });
    const { isAloneInCluster = false } = component;
    const search = new OtherInstallations({
      client: createKubeClient({ kube: ports.reviews, clock: ports.clock }),
      ...{ clock: ports.clock, logger: deps.logger, leaseName: component.leaseName, ownNamespace },
    });
    const config = new ConfigWatch({
      ...deps,
      path: configFile,
      warnings: configWarnings,
      clock: ports.clock,
      apply: (changed) => {
        parts.apply(changed);
        for (const check of rights) check.apply(changed);
      },
    });
    const view = (): ProcessView => ({
      identity: ports.identity,
      version: deps.version,
      leads: ports.leadership.mayWrite(),
      ...leadsSince(),
      missingRights: rights.flatMap((check) => check.missing()),
      otherInstallations: search.found(),
    });
    const status = parts.status && ((shoot?: string) => parts.status?.(view(), shoot) ?? {});
    const lease = enabled ? { namespace: ownNamespace, name: leaseName } : undefined;
    return {
      ...(status && { status, servers: deps.servers?.({ ...ports, status, ...(lease && { lease }) }) ?? [] }),
      standby: [parts.caches, config, ...rights, ...(isAloneInCluster ? [search] : [])],
      leading: [parts.controller],
      checks: () => [...(dryRun ? [dryRunCheck] : []), ...hintsOf(view()), ...parts.checks()],
    };
  };
  return runSeedProcess({ ...deps, leaseName, urgentInFlight, runsOnStandby, userAgent, start });
};

/** Sets the metrics of leadership. Returns a function that reads the start of this process's leadership, in milliseconds since the epoch. */
const trackLeadership = ({ meter, leaderWatch, clock }: SeedPorts): (() => Pick<ProcessView, 'leadsSince'>) => {
  let leadsSince = leaderWatch === undefined ? clock.now() : undefined;
  const leads = meter.gauge({ name: 'dwd_leader', help: '1 if this replica leads, or runs without leader election.' });
  const election = {
    name: 'dwd_leader_election_enabled',
    help: '1 if the replicas elect a leader; 0 if every replica leads.',
  };
  meter.gauge(election).set(leaderWatch === undefined ? 0 : 1);
  leads.set(leaderWatch === undefined ? 1 : 0);
  leaderWatch?.onLead(() => {
    leads.set(1);
    leadsSince = clock.now();
  });
  return () => (leadsSince === undefined ? {} : { leadsSince });
};

interface RightsDeps<Settings> extends ProcessDeps<Settings> {
  readonly ports: SeedPorts;
  readonly leaseName: string;
}

/** Creates the checks of the rights in the seed and, if the component uses it, in the garden. */
const rightsChecks = <Settings>(
  { neededRights, garden }: Component<Settings>,
  deps: RightsDeps<Settings>,
): readonly RightsCheck<Settings>[] => {
  const { ports, flags, leaseName } = deps;
  const { enabled, namespace } = flags.leaderElection;
  const { clock } = ports;
  const electionRights = enabled ? rightsOf(leaseGrants(leaseName, namespace)) : [];
  const client = createKubeClient({ kube: ports.reviews, clock });
  const needed: typeof neededRights = async (wanted, inquiry) => [
    ...(await neededRights(wanted, inquiry)),
    ...electionRights,
  ];
  const inSeed = new RightsCheck({ ...deps, client, clock, needed });
  if (garden === undefined) return [inSeed];
  return [
    inSeed,
    new RightsCheck({ ...deps, client: garden.client, clock, needed: garden.neededRights, cluster: 'garden' }),
  ];
};
