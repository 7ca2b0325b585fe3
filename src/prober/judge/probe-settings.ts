import type { ShootSettings } from '../clusters/lifecycle.ts';
import type { ProbeSettings, ProbeMemory, Verdict } from './judgement.ts';
import type { GraceDeadline } from '../report/events.ts';
import type { ProberSettings } from '../config/settings.ts';

/**
 * Share of the grace period after which a lease has expired. It leaves the prober time to act before KCM, and the kubelet three attempts in a grace period of
 * 40 s.
 */
export const expiryShareOfGrace = 0.75;

const graceOf = (settings: ProberSettings, shoot: ShootSettings): number =>
  shoot.nodeMonitorGraceMs ?? settings.nodeMonitorGraceMs;

/** Returns the settings for judging a shoot. */
export const probeSettings = (settings: ProberSettings, shoot: ShootSettings): ProbeSettings => {
  const graceMs = graceOf(settings, shoot);
  return { ...settings, graceMs, expiryAgeMs: expiryShareOfGrace * graceMs, poolConditions: shoot.poolConditions };
};

/**
 * Returns the monotonic instant by which a run that is due now must end: when KCM may mark the next node as unhealthy if no lease is renewed. It is `now` if
 * no leases are known yet or a scaling is in progress, and a whole grace period later if the resources are held already.
 */
export const runNeededBy = (
  { probe, scaling }: { readonly probe: ProbeMemory; readonly scaling?: unknown },
  { now, graceMs, isHeld }: { readonly now: number; readonly graceMs: number; readonly isHeld: boolean },
): number => {
  const { leases } = probe;
  if (scaling !== undefined || leases.length === 0) return now;
  if (isHeld) return now + graceMs;
  const ends = leases.map(({ silentSince }) => silentSince + graceMs).filter((at) => at > now);
  return Math.min(now + graceMs, ...ends);
};

/** Returns when KCM's grace period ends; undefined unless the verdict is `unhealthy`. */
export const graceDeadlineOf = (
  verdict: Verdict | undefined,
  settings: ProberSettings,
  shoot: ShootSettings,
): GraceDeadline | undefined => {
  if (verdict?.kind !== 'unhealthy') return undefined;
  const { crossedAt, earlyByMs = 0 } = verdict;
  return { crossedAt, graceEndsAt: crossedAt + earlyByMs + (1 - expiryShareOfGrace) * graceOf(settings, shoot) };
};
