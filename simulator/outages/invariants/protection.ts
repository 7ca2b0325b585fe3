import { gardenSettings } from '../../harness/index.ts';
import type { Rules } from '../rules.ts';
import { type ShootModel, troubledUntil } from '../model.ts';
import type { Views } from '../client-views.ts';
import { type Known, stateless } from './invariant.ts';

/** From the threshold to the last Deployment at 0: a look at once, then two levels, of which the first takes 3 s at most. */
const reactionMs = 5_000;
/** What troubles leave behind: back-off, downtime that is forgiven, lists and leadership that come back. On top of the limit. */
const settleMs = 40_000;

/** A shoot that is watched again: a new prober waits its initial delay, and confirms what timestamps say by a second look. */
const returnMs = gardenSettings.initialDelayMs + 2_000;

/** When the share of candidates whose lease did not change for the limit reached the threshold; undefined: it has not. */
const crossedAt = (shoot: ShootModel, limitMs: number, { highestFraction }: Rules): number | undefined => {
  const expiries = [...shoot.nodes]
    .filter(([node, { isCandidate }]) => isCandidate && shoot.machines.has(node))
    .flatMap(([node]) => shoot.leases.get(node) ?? [])
    .map((changedAt) => changedAt + limitMs)
    .sort((a, b) => a - b);
  if (expiries.length < 2) return undefined;
  return expiries.find((_, index) => (index + 1) / expiries.length >= highestFraction);
};

/**
 * How long an outside path that was whole may keep the shoot from being protected: for half of the limit, and then until the next look; or until a fault of
 * ours is met.
 */
const pathObjectsUntil = (name: string, views: Views, rules: Rules): number => {
  if (rules.plan.outside !== 'confirm' && rules.plan.outside !== 'trigger') return Number.NEGATIVE_INFINITY;
  const until = [...views]
    .filter(([key]) => key.endsWith(`/${name}`))
    .map(([, { tries }]) =>
      Math.max(tries.answeredAt + rules.limitMs(name) / 2 + rules.intervalMs, tries.unknownSince),
    );
  return Math.max(Number.NEGATIVE_INFINITY, ...until);
};

/** From when on a shoot has to be protected; undefined: it need not be. */
const protectedFrom = (name: string, { model, views, rules }: Known): number | undefined => {
  const shoot = model.shoots.get(name);
  if (shoot?.phase !== 'run' || rules.plan.dryRun) return undefined;
  const limitMs = rules.limitMs(name);
  const crossed = crossedAt(shoot, limitMs, rules);
  if (crossed === undefined) return undefined;
  const returnedMs = shoot.phaseSince === 0 ? 0 : shoot.phaseSince + returnMs;
  const pathMs = pathObjectsUntil(name, views, rules);
  return Math.max(crossed, pathMs, returnedMs, troubledUntil(model, name) + limitMs + settleMs) + reactionMs;
};

const upIn = (shoot: ShootModel | undefined, rules: Rules): readonly string[] =>
  rules.downLevels.flat().filter((name) => {
    const deployment = shoot?.deployments.get(name);
    return deployment !== undefined && !deployment.isIgnored && deployment.replicas > 0;
  });

/**
 * A shoot whose kubelets are cut off, with a watchdog that leads and API servers that answer, is protected within seconds of the
 * threshold. (Before that KCM may be first, where one lease is older than the others by nearly all that the grace leaves.)
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

/** Nor does it lose a node from then on. */
export const noNodeLost = stateless('no node lost', (event, known) => {
  if (event.kind !== 'node' || event.facts?.isUnknown !== true) return undefined;
  const from = protectedFrom(event.shoot, known);
  return from !== undefined && known.model.at >= from ? `${event.shoot}: node ${event.node} was given up` : undefined;
});
