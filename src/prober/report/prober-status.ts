import { createHash } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { ProcessView } from '../../process/index.ts';
import type { ShootStates } from './state.ts';
import type { ProberSettings } from '../config/settings.ts';
import type { Standby } from '../scale/permission.ts';
import { formatWall } from './shown.ts';
import type { PauseInForce, ProberStatus } from '../../status/state/schema.ts';

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

/** Returns the response to `GET /status`. */
export const proberStatus = (sources: StatusSources): ProberStatus => {
  const { states, clock, settings, process, standby, dryRun, paused, shoot } = sources;
  const lastRoundEndedAt = states.lastRoundEndedAt();
  return {
    schemaVersion: 1,
    component: 'prober',
    seed: states.seed(),
    identity: process.identity,
    version: process.version,
    at: formatWall(clock.now()),
    leads: process.leads,
    leadsSince: process.leadsSince === undefined ? undefined : formatWall(process.leadsSince),
    standby,
    dryRun,
    configHash: configHashOf(settings),
    probeIntervalMs: settings.probeIntervalMs,
    lastRoundEndedAt,
    missingRights: process.missingRights,
    otherInstallations: process.otherInstallations.length === 0 ? undefined : process.otherInstallations,
    paused: paused ?? null,
    shoots: shoot === undefined ? states.rows(listAgeMs) : states.details(shoot),
  };
};
