import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import { createKubeClient } from '../kubernetes/client/index.ts';
import type { Logger } from '../ports/logger.ts';
import type { PrometheusMeter } from '../telemetry/index.ts';
import { type Component, userAgentOf } from './component.ts';
import { type ConfigFile, ConfigWatch } from './config-watch.ts';
import type { ReadStatus, ReadyCheck } from './endpoints.ts';
import type { Runnable } from './lifecycle.ts';
import { OtherInstallations } from './other-installations.ts';
import type { ProcessView } from './reloadable.ts';
import { type NeededRight, RightsCheck, type RightsCheckOptions, leaseGrants, rightsOf } from './rights/index.ts';
import { type ProcessParts, type SeedPorts, runSeedProcess } from './seed-process.ts';
import type { ProcessOptions } from './settings.ts';

/** Dependencies of an additional server, besides those for metrics and health. */
export interface ServerDeps extends Pick<SeedPorts, 'clock' | 'logger'> {
  /** Lease of the leader election. Absent without leader election. */
  readonly lease?: NamespacedName;
  readonly status: ReadStatus;
}

export interface ProcessDeps<Settings> extends ConfigFile<Settings> {
  readonly flags: ProcessOptions;
  /** Creates additional servers, for a component that has a status. */
  readonly servers?: (deps: ServerDeps) => readonly Runnable[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly meter: PrometheusMeter;
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
  // A dry run must never take the Lease from the process that protects the seed.
  const leaseName = deps.flags.dryRun ? `${component.leaseName}-dry-run` : component.leaseName;
  const start = (ports: SeedPorts): ProcessParts => createParts(component, deps, { ports, leaseName });
  return runSeedProcess({ ...component, ...deps, leaseName, userAgent: userAgentOf(deps), start });
};

interface Started {
  readonly ports: SeedPorts;
  readonly leaseName: string;
}

const createParts = <Settings>(
  component: Component<Settings>,
  deps: ProcessDeps<Settings>,
  { ports, leaseName }: Started,
): ProcessParts => {
  const { clock, identity, leadership } = ports;
  const { version, settings, env } = deps;
  const { dryRun, leaderElection } = deps.flags;
  const { enabled, namespace: ownNamespace } = leaderElection;
  const leadsSince = trackLeadership(ports);
  const client = createKubeClient({ kube: ports.reviews, clock });
  const rights = createRightsChecks(component, {
    ...{ ...deps, clock, client },
    forElection: enabled ? rightsOf(leaseGrants(leaseName, ownNamespace)) : [],
  });
  const search = new OtherInstallations({ ...deps, clock, client, leaseName: component.leaseName, ownNamespace });
  const checkRights = (changed: Settings): void => {
    for (const check of rights) check.apply(changed);
  };
  const userAgent = userAgentOf(deps);
  const parts = component.create({ settings, ports, ownNamespace, dryRun, checkRights, env, userAgent });
  const apply = (changed: Settings): Promise<boolean> => {
    checkRights(changed);
    return parts.apply(changed);
  };
  const view = (): ProcessView => ({
    identity,
    version,
    leads: leadership.mayWrite(),
    leadsSince: leadsSince(),
    missingRights: rights.flatMap((check) => check.missing()),
    otherInstallations: search.found(),
  });
  const { status: statusOf } = parts;
  const status = statusOf && ((shoot?: string) => statusOf(view(), shoot));
  const lease = enabled ? { namespace: ownNamespace, name: leaseName } : undefined;
  return {
    status,
    servers: status && deps.servers?.({ ...ports, status, lease }),
    standby: [
      ...[parts.caches, new ConfigWatch({ ...deps, clock, apply }), ...rights],
      ...(component.isAloneInCluster === true ? [search] : []),
    ],
    leading: [parts.controller],
    checks: () => [...(dryRun ? [dryRunCheck] : []), ...hintsOf(view()), ...parts.checks()],
  };
};

/** Sets the metrics of leadership. Returns a function that reads the start of this process's leadership, in milliseconds since the epoch. */
const trackLeadership = ({ meter, leaderWatch, clock }: SeedPorts): (() => number | undefined) => {
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
    leadsSince ??= clock.now();
  });
  return () => leadsSince;
};

/** Creates the checks of the rights in the seed and, if the component uses it, in the garden. */
const createRightsChecks = <Settings>(
  { neededRights, garden }: Component<Settings>,
  {
    forElection,
    ...options
  }: Omit<RightsCheckOptions<Settings>, 'needed'> & { readonly forElection: readonly NeededRight[] },
): readonly RightsCheck<Settings>[] => {
  const needed: typeof neededRights = async (wanted, inquiry) => [
    ...(await neededRights(wanted, inquiry)),
    ...forElection,
  ];
  const inSeed = new RightsCheck({ ...options, needed });
  if (garden === undefined) return [inSeed];
  const { client, neededRights: neededInGarden } = garden;
  return [inSeed, new RightsCheck({ ...options, client, needed: neededInGarden, cluster: 'garden' })];
};
