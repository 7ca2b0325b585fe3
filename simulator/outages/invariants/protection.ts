import { gardenSettings } from '../../harness/index.ts';
import type { Rules } from '../rules.ts';
import { type ShootModel, hinderedUntil } from '../model.ts';
import { type Known, stateless } from './invariant.ts';

/** Time from the threshold to the last Deployment at 0: a probe at once, then two levels. The first takes at most 3 s. */
const reactionMs = 5_000;
/** Time after faults, in addition to the expiry age: for back-off, the reset after downtime, new lists and a new leader. */
const settleMs = 40_000;

/** Time for a shoot that is probed again: a new prober waits its initial delay, and confirms old timestamps by a second observation. */
const returnMs = gardenSettings.initialDelayMs + 2_000;

/** Returns the time at which the share of expired candidates reaches the threshold if no lease changes; undefined for fewer than two leases. */
const crossedAt = (shoot: ShootModel, limitMs: number, { highestFraction }: Rules): number | undefined => {
  const expiries = [...shoot.nodes]
    .filter(([node, { isCandidate }]) => isCandidate && shoot.machines.has(node))
    .flatMap(([node]) => shoot.leases.get(node) ?? [])
    .map((changedAt) => changedAt + limitMs)
    .sort((a, b) => a - b);
  if (expiries.length < 2) return undefined;
  return expiries.find((_, index) => (index + 1) / expiries.length >= highestFraction);
};

/** Returns the time from which a shoot must be protected; undefined if it need not be. */
const protectedFrom = (name: string, { model, rules }: Known): number | undefined => {
  const shoot = model.shoots.get(name);
  if (shoot?.phase !== 'run' || rules.plan.dryRun) return undefined;
  const limitMs = rules.limitMs(name);
  const crossed = crossedAt(shoot, limitMs, rules);
  if (crossed === undefined) return undefined;
  const returnedMs = shoot.phaseSince === 0 ? 0 : shoot.phaseSince + returnMs;
  return Math.max(crossed, returnedMs, hinderedUntil(model, name) + limitMs + settleMs) + reactionMs;
};

const upIn = (shoot: ShootModel | undefined, rules: Rules): readonly string[] =>
  rules.downLevels.flat().filter((name) => {
    const deployment = shoot?.deployments.get(name);
    return deployment !== undefined && !deployment.isIgnored && deployment.replicas > 0;
  });

/**
 * A shoot whose kubelets are cut off, with a leader and working API servers, is protected within seconds of the threshold. (KCM may act before
 * the threshold if one lease is older than the others by nearly the rest of the grace period.)
 */
export const protection = stateless('protected in time', (event, known) => {
  const { model, rules } = known;
  if (event.kind !== 'tick') return undefined;
  for (const [name, shoot] of model.shoots) {
    const from = protectedFrom(name, known);
    if (from === undefined || model.at < from) continue;
    const [up] = upIn(shoot, rules);
    const lateMs = model.at - from + reactionMs;
    if (up !== undefined) return `${name}: ${up} is up, ${(lateMs / 1_000).toFixed(1)} s after it had to be down`;
  }
  return undefined;
});

/** A shoot loses no node from the time at which it must be protected. */
export const noNodeLost = stateless('no node lost', (event, known) => {
  if (event.kind !== 'node' || event.facts?.isUnknown !== true) return undefined;
  const from = protectedFrom(event.shoot, known);
  return from !== undefined && known.model.at >= from ? `${event.shoot}: node ${event.node} was given up` : undefined;
});
