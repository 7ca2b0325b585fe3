import { createHash } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { ProcessView } from '../../process/index.ts';
import type { ProberSettings } from '../settings.ts';
import type { HostedCluster } from '../source/cluster-source.ts';
import type { Standby } from '../standby.ts';
import type { StatusBoard } from './board.ts';
import { formatWall } from './moment.ts';
import type { PauseInForce, ProberStatus } from './schema.ts';
import type { ShootName } from './shoot-record.ts';

/** Of a project's namespace in the garden, unless the project names one itself (`Project.spec.namespace` of core.gardener.cloud/v1beta1). */
const projectPrefix = 'garden-';

/** What a Cluster says its shoot is called. */
export const shootNameIn = (cluster: Pick<HostedCluster, 'shootName'> | undefined): ShootName | undefined => {
  if (cluster?.shootName === undefined) return undefined;
  const { namespace, name } = cluster.shootName;
  const project = namespace.startsWith(projectPrefix) ? namespace.slice(projectPrefix.length) : namespace;
  return { project, name };
};

/** The same for the same configuration, however it is written; resources that are only still to be restored are no part of it. */
const configHashOf = ({ dependentResources, ...rest }: ProberSettings): string => {
  const named = dependentResources.filter(({ onlyWhereHeld }) => onlyWhereHeld !== true);
  return createHash('sha256')
    .update(JSON.stringify({ ...rest, dependentResources: named }))
    .digest('hex')
    .slice(0, 12);
};

interface StatusSources {
  readonly board: StatusBoard;
  readonly clock: Clock;
  /** In force. */
  readonly settings: ProberSettings;
  readonly process: ProcessView;
  readonly standby: Standby;
  readonly dryRun: boolean;
  /** The pause of all shoots. */
  readonly paused: PauseInForce | undefined;
  /** Namespace of the one shoot that is asked for. */
  readonly shoot: string | null;
}

/** A thousand rows take some ten milliseconds of the event loop. */
const rowsAgeMs = 500;

/** What `GET /status` answers. */
export const proberStatus = (sources: StatusSources): ProberStatus => {
  const { board, clock, settings, process, standby, dryRun, paused, shoot } = sources;
  const lastRoundEndedAt = board.lastRoundEndedAt();
  const heldUnprobed = board.heldUnprobed(shoot);
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
    paused: paused ?? null,
    shoots: shoot === null ? board.rows(rowsAgeMs) : board.details(shoot),
    ...(heldUnprobed.length === 0 ? {} : { heldUnprobed }),
  };
};
