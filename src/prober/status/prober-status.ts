import { createHash } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { ProcessView } from '../../process/index.ts';
import type { ShootName, ShootStates } from '../report/state.ts';
import type { ProberSettings } from '../settings.ts';
import type { HostedCluster } from '../source/cluster-source.ts';
import type { Standby } from '../standby.ts';
import { formatWall } from './clock-reading.ts';
import type { PauseInForce, ProbedShoot, ProberStatus } from './schema.ts';
import { shownInFull, shownShoot } from './shown-shoot.ts';

/** Prefix of a project's namespace in the garden, unless the project specifies its namespace (`Project.spec.namespace` of core.gardener.cloud/v1beta1). */
const projectPrefix = 'garden-';

/** Returns the name and the project of the shoot from its Cluster. */
export const shootNameIn = (cluster: Pick<HostedCluster, 'shootName'> | undefined): ShootName | undefined => {
  if (cluster?.shootName === undefined) return undefined;
  const { namespace, name } = cluster.shootName;
  const project = namespace.startsWith(projectPrefix) ? namespace.slice(projectPrefix.length) : namespace;
  return { project, name };
};

/** Returns the same hash for the same configuration, however it is written. It leaves out resources that are only still to be restored. */
const configHashOf = ({ dependentResources, ...rest }: ProberSettings): string => {
  const named = dependentResources.filter(({ restoreOnly }) => restoreOnly !== true);
  return createHash('sha256')
    .update(JSON.stringify({ ...rest, dependentResources: named }))
    .digest('hex')
    .slice(0, 12);
};

interface StatusSources {
  readonly states: ShootStates;
  readonly clock: Clock;
  /** Settings in force. */
  readonly settings: ProberSettings;
  readonly process: ProcessView;
  readonly standby: Standby;
  readonly dryRun: boolean;
  /** The pause of all shoots. */
  readonly paused: PauseInForce | undefined;
  /** Name of the requested shoot; undefined for all shoots. */
  readonly shoot: string | undefined;
}

/** The list of all shoots may be this old, in milliseconds. */
const listAgeMs = 500;

/** Returns the shoots, as the document shows them: all of them, or the one of this name in full. */
export const shownShoots = (states: ShootStates, wanted?: string): readonly ProbedShoot[] => {
  if (wanted === undefined) {
    return states.facts(listAgeMs).map((facts) => shownShoot(facts, states.nameOf(facts.cluster)));
  }
  const facts = states.factsOf(wanted);
  return facts === undefined ? [] : [shownInFull(facts, states.nameOf(wanted))];
};

/** Returns the response to `GET /status`. */
export const proberStatus = (sources: StatusSources): ProberStatus => {
  const { states, clock, settings, process, standby, dryRun, paused, shoot } = sources;
  const { lastRoundEndedAt } = states;
  const heldUnprobed = states.heldUnprobed(shoot);
  return {
    schemaVersion: 1,
    component: 'prober',
    identity: process.identity,
    version: process.version,
    at: formatWall(clock.now()),
    leads: process.leads,
    leadsSince: process.leadsSince === undefined ? undefined : formatWall(process.leadsSince),
    standby,
    dryRun,
    configHash: configHashOf(settings),
    probeIntervalMs: settings.probeIntervalMs,
    lastRoundEndedAt: lastRoundEndedAt === undefined ? undefined : formatWall(lastRoundEndedAt),
    missingRights: process.missingRights,
    otherInstallations: process.otherInstallations.length === 0 ? undefined : process.otherInstallations,
    paused: paused ?? null,
    shoots: shownShoots(states, shoot),
    heldUnprobed: heldUnprobed.length === 0 ? undefined : heldUnprobed,
  };
};
