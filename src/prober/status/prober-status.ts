import { createHash } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { ProcessView } from '../../process/index.ts';
import type { ShootName, ShootStates } from '../report/state.ts';
import type { ProberSettings } from '../settings.ts';
import type { HostedCluster } from '../source/cluster-source.ts';
import type { Standby } from '../standby.ts';
import { formatWall } from './clock-reading.ts';
import type { PauseInForce, ProberStatus } from './schema.ts';

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

/** Rows may be this old, in milliseconds, because a thousand rows take some ten milliseconds of the event loop. */
const rowsAgeMs = 500;

/** Returns the response to `GET /status`. */
export const proberStatus = (sources: StatusSources): ProberStatus => {
  const { states, clock, settings, process, standby, dryRun, paused, shoot } = sources;
  const lastRoundEndedAt = states.lastRoundEndedAt();
  const heldUnprobed = states.heldUnprobed(shoot);
  return {
    schemaVersion: 1,
    component: 'prober',
    identity: process.identity,
    version: process.version,
    at: formatWall(clock.now()),
    leads: process.leads,
    ...(process.leadsSince === undefined ? {} : { leadsSince: formatWall(process.leadsSince) }),
    standby,
    dryRun,
    configHash: configHashOf(settings),
    probeIntervalMs: settings.probeIntervalMs,
    ...(lastRoundEndedAt === undefined ? {} : { lastRoundEndedAt }),
    missingRights: process.missingRights,
    ...(process.otherInstallations.length === 0 ? {} : { otherInstallations: process.otherInstallations }),
    paused: paused ?? null,
    shoots: shoot === undefined ? states.rows(rowsAgeMs) : states.details(shoot),
    ...(heldUnprobed.length === 0 ? {} : { heldUnprobed }),
  };
};
