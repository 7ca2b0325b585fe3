import { formatAge } from '../../kubernetes/api/duration.ts';
import { doOf } from './do.ts';
import type { ShootFacts, ShootTold, UnprotectedCause } from './schema.ts';
import type { ShootState } from './states.ts';
import { asOf, canNotSee, clockTime, leasesInWords, listed, pauseInWords } from './words.ts';

/** Context of a judgement. */
export interface JudgeContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly probeIntervalMs: number;
  /** True if the prober writes nothing. */
  readonly dryRun: boolean;
}

/** A shoot is blind after this many failed runs in a row, or after this many probe intervals. */
const blindAfter = 3;

const isBlind = ({ failing }: ShootFacts, { now, probeIntervalMs }: JudgeContext): boolean =>
  failing !== undefined &&
  (failing.runs >= blindAfter || now - Date.parse(failing.since) >= blindAfter * probeIntervalMs);

const isOutage = ({ verdict }: ShootFacts): boolean => verdict === 'unhealthy';

/** Returns why an outage of a probed shoot would not be met; undefined if it would, as far as the facts show. */
const causeOf = (facts: ShootFacts, { dryRun }: JudgeContext): UnprotectedCause | undefined => {
  const { paused, candidates, nodes, missing = [], notServed = [], ignored = [], graceMs, actsAfterMs } = facts;
  if (paused !== null) return 'paused';
  if (dryRun) return 'dry-run';
  if (missing.length > 0) return 'missing';
  if (notServed.length > 0) return 'not-served';
  if (nodes !== undefined && candidates < 2) return 'too-few-nodes';
  if (actsAfterMs !== undefined && actsAfterMs >= graceMs) return 'grace';
  return ignored.length > 0 ? 'ignore-scaling' : undefined;
};

/** Nodes and machines are listed only to judge an outage: without the right to, the leases show that the shoot is healthy now, but no outage would be met. */
const isRightMissing = ({ failing, held }: ShootFacts): boolean =>
  failing?.kind === 'rights' && failing.read !== 'leases' && held.length === 0;

/** Returns the resources that `ignore-scaling` keeps up in an outage. */
const keptUp = ({ ignored = [] }: ShootFacts) => ignored.filter(({ isDown }) => !isDown);
/** Returns those that it keeps down after one. */
const keptDown = ({ ignored = [] }: ShootFacts) => ignored.filter(({ isDown }) => isDown);

const stateOfHeld = (facts: ShootFacts): ShootState => {
  const { verdict, progress, missing = [], notServed = [] } = facts;
  if (progress !== undefined && progress.direction !== 'down') return 'restoring';
  if (verdict === 'landing') return 'landing';
  if (verdict === 'healthy') return 'restoring';
  const lacking = keptUp(facts).length + missing.length + notServed.length;
  return isOutage(facts) && lacking > 0 ? 'not protected' : 'held';
};

const stateByVerdict = ({ verdict, flapping, progress }: ShootFacts): ShootState => {
  switch (verdict) {
    case undefined:
      return 'not probed';
    // The scale-down has just begun, or somebody else had scaled all down before.
    case 'unhealthy':
      return progress === undefined ? 'held' : 'confirming';
    case 'confirming':
      return 'confirming';
    case 'landing':
      return 'landing';
    case 'skipped':
    case 'healthy':
      return flapping ? 'flapping' : 'healthy';
  }
};

interface Judged {
  readonly state: ShootState;
  readonly cause?: UnprotectedCause | undefined;
}

/** Returns the first state that applies, the most urgent first. */
const stateOf = (facts: ShootFacts, context: JudgeContext): Judged => {
  const { held, up = [], notProbed } = facts;
  if (notProbed !== undefined) return { state: 'not probed' };
  const isSeen = !isBlind(facts, context);
  if (isRightMissing(facts) && !isSeen) return { state: 'not protected', cause: 'nodes-not-listed' };
  if (!isSeen) return { state: 'blind', cause: 'blind' };
  const cause = causeOf(facts, context);
  if (up.length > 0 && !context.dryRun) return { state: 'losing nodes', cause };
  if (held.length > 0) {
    const state = stateOfHeld(facts);
    return state === 'not protected' ? { state, cause: cause === 'paused' ? 'ignore-scaling' : cause } : { state };
  }
  if (cause !== undefined) return { state: cause === 'paused' ? 'paused' : 'not protected', cause };
  return { state: stateByVerdict(facts) };
};

/** Appends what the last run could not read, if it failed. */
const withFailure = (words: string, facts: ShootFacts): string =>
  facts.failing === undefined ? words : `${words}; the last probe failed: ${canNotSee(facts)}`;

const andPaused = ({ paused }: ShootFacts): string => (paused === null ? '' : `; paused ${pauseInWords(paused)}`);

const andHeld = ({ held }: ShootFacts): string => (held.length === 0 ? '' : `; held: ${listed(held)}`);

const ignoredInWords = (facts: ShootFacts): string => {
  const [up, down] = [keptUp(facts), keptDown(facts)];
  return [
    ...(up.length === 0
      ? []
      : [
          isOutage(facts)
            ? `ignore-scaling keeps ${listed(up)} up`
            : `ignore-scaling would keep ${listed(up)} up in an outage`,
        ]),
    ...(down.length === 0 ? [] : [`ignore-scaling keeps ${listed(down)} down: nothing restores it`]),
  ].join('; ');
};

const heldInWords = (facts: ShootFacts): string => {
  const { held } = facts;
  const kept = keptDown(facts).length === 0 ? '' : `; ${ignoredInWords(facts)}`;
  return `${held.length === 0 ? 'nothing is up that would replace its nodes' : `held: ${listed(held)}`}${kept}`;
};

/** Returns the leases; before the first look, what the annotations of held resources say. */
const whatIsSeen = (facts: ShootFacts): string =>
  facts.lookedAt === undefined && facts.reason !== '' ? facts.reason : leasesInWords(facts);

const whyLosing = (facts: ShootFacts): string => {
  const { up = [], failedWrites = [] } = facts;
  const [failed] = failedWrites;
  const still =
    failed === undefined
      ? `${listed(up)} ${up.length === 1 ? 'is' : 'are'} still up`
      : `${failed.name} could not be scaled: ${failed.error}`;
  return `${leasesInWords(facts)}; ${still}${andHeld(facts)}${andPaused(facts)}`;
};

const whyBlind = (facts: ShootFacts): string => {
  const { up = [] } = facts;
  const left = up.length === 0 ? '' : `, and ${listed(up)} ${up.length === 1 ? 'was' : 'were'} still up`;
  return `${canNotSee(facts)}; ${asOf(facts)}${left}${andHeld(facts)}${andPaused(facts)}`;
};

const whyTooFew = ({ candidates, nodes = 0, leftOutReasons = [] }: ShootFacts): string => {
  const reasons = leftOutReasons.slice(0, 2).map(({ reason, nodes: count }) => `${String(count)} (${reason})`);
  const why = reasons.length === 0 ? '' : `; not counted: ${reasons.join(', ')}`;
  return `${String(candidates)} of ${String(nodes)} nodes count, and an outage shows by two at least${why}`;
};

const whyUnprotected = (cause: UnprotectedCause | undefined, facts: ShootFacts): string => {
  const { missing = [], notServed = [], graceMs, actsAfterMs = 0, held } = facts;
  const kept = held.length === 0 ? '' : `${leasesInWords(facts)}; held: ${listed(held)}; `;
  switch (cause) {
    case 'nodes-not-listed':
      return `its ${facts.failing?.read ?? 'nodes'} cannot be listed: ${facts.failing?.reason ?? ''}`;
    case 'too-few-nodes':
      return whyTooFew(facts);
    case 'missing':
      return `${kept}there is no ${listed(missing)} to scale down`;
    case 'not-served':
      return `${kept}the seed does not serve ${listed(notServed)}, so it cannot be scaled down`;
    case 'ignore-scaling':
      return `${kept}${ignoredInWords(facts)}`;
    case 'grace':
      return `KCM gives up a node after ${formatAge(graceMs)}, and an outage shows after ${formatAge(actsAfterMs)} at the earliest`;
    case 'dry-run':
      return isOutage(facts)
        ? `dry run: nothing is written, although ${leasesInWords(facts)}`
        : 'dry run: nothing is written in an outage';
    case 'paused':
    case 'blind':
    case undefined:
      return andPaused(facts).slice(2);
  }
};

const whyLanding = ({ landing, flapping }: ShootFacts): string => {
  if (landing === undefined) return 'the outage is over';
  const { renewed, awaited, late } = landing;
  const others = late.length === 0 ? '' : `, not yet: ${late.join(', ')}`;
  const longer = flapping ? '; flapping, so all must renew for two minutes' : '';
  return `${String(renewed)} of ${String(awaited)} nodes renew again${others}${longer}`;
};

const whyNotProbed = (facts: ShootFacts): string => {
  const { notProbed, failing } = facts;
  if (notProbed !== undefined) return `${notProbed.reason}${andHeld(facts)}`;
  return failing === undefined ? 'its first probe has not ended yet' : `its first probe failed: ${canNotSee(facts)}`;
};

const whyOf = ({ state, cause }: Judged, facts: ShootFacts): string => {
  switch (state) {
    case 'losing nodes':
      return withFailure(whyLosing(facts), facts);
    case 'blind':
      return whyBlind(facts);
    case 'not protected':
      return whyUnprotected(cause, facts);
    case 'paused':
      return `paused ${facts.paused === null ? '' : pauseInWords(facts.paused)}`;
    case 'held':
      return withFailure(`${whatIsSeen(facts)}; ${heldInWords(facts)}${andPaused(facts)}`, facts);
    case 'landing':
      return withFailure(
        `${whyLanding(facts)}${keptDown(facts).length === 0 ? '' : `; ${ignoredInWords(facts)}`}`,
        facts,
      );
    case 'restoring':
      return withFailure(`${whatIsSeen(facts)}; ${heldInWords(facts)}`, facts);
    case 'flapping':
      return withFailure('an outage came within ten minutes of the restoration before', facts);
    case 'confirming':
    case 'healthy':
      return withFailure(leasesInWords(facts), facts);
    case 'not probed':
      return whyNotProbed(facts);
  }
};

const doing = { down: 'scaling down', up: 'restoring', release: 'giving back' } as const;

const progressInWords = ({ progress }: ShootFacts): ShootTold['next'] | undefined => {
  if (progress === undefined) return undefined;
  const { direction, done, total, awaited } = progress;
  const waits = awaited === undefined ? '' : `; ${awaited.name} ${awaited.why}`;
  return { text: `${doing[direction]}: ${String(done)} of ${String(total)} done${waits}`, at: awaited?.until };
};

/** Says what must happen before a blind shoot can be seen. */
const unreadOf = ({ failing }: ShootFacts): string =>
  failing === undefined || failing.read === 'leases'
    ? 'its API server can be read'
    : `its ${failing.read} can be listed`;

const nextOf = ({ state }: Judged, facts: ShootFacts): ShootTold['next'] => {
  const { nextRunAt: at, landing, held, notProbed, progress } = facts;
  const moving = progressInWords(facts);
  switch (state) {
    case 'losing nodes':
      if (facts.paused !== null) return { text: 'nothing is scaled down while it is paused', at: facts.paused.until };
      return moving ?? { text: 'tries again at the next probe', at };
    case 'blind':
      return held.length === 0
        ? { text: 'next probe', at }
        : { text: `cannot be restored until ${unreadOf(facts)}; next probe`, at };
    case 'paused':
      return moving ?? { text: 'protected again when the pause ends', at: facts.paused?.until };
    case 'not protected':
      return moving ?? { text: 'protected once that is mended' };
    case 'held':
      return progress?.direction === 'down' && moving !== undefined
        ? moving
        : { text: 'restored when its nodes renew' };
    case 'landing':
      if (landing === undefined) return { text: 'restored soon' };
      return landing.earliest === undefined || landing.earliest === landing.latest
        ? { text: 'restored when all renew, at the latest', at: landing.latest }
        : { text: `restored at the latest at ${clockTime(landing.latest)}, at the earliest`, at: landing.earliest };
    case 'restoring':
      return moving ?? { text: 'restores at the next probe', at };
    case 'flapping':
      return { text: 'the next restoration waits longer; next probe', at };
    case 'confirming':
      return moving ?? { text: 'looks again', at };
    case 'healthy':
      return { text: 'next probe', at };
    case 'not probed':
      if (notProbed === undefined) return { text: 'first probe', at };
      if (moving !== undefined) return moving;
      if (held.length === 0) return { text: '' };
      return { text: notProbed.givesBack ? 'its held resources are given back' : 'nothing restores them by itself' };
  }
};

const sinceOf = ({ state }: Judged, { held, failing, outageSince }: ShootFacts): string | undefined => {
  const times = held.flatMap(({ since }) => since ?? []).toSorted((a, b) => Date.parse(a) - Date.parse(b));
  if (state === 'losing nodes') return outageSince;
  if (state === 'blind') return failing?.since;
  return state === 'held' ? times[0] : undefined;
};

const runbookOf = ({ state }: Judged, facts: ShootFacts): string | undefined => {
  const isHeld = facts.held.length > 0;
  switch (state) {
    case 'losing nodes':
      return 'DwdOutageUnmet';
    case 'blind':
      return isHeld ? 'DwdShootBlind' : 'DwdShootUnprotected';
    case 'not protected':
      return 'DwdShootUnprotected';
    case 'paused':
      return 'DwdPausedLong';
    case 'held':
    case 'landing':
    case 'restoring':
      return 'DwdHeld';
    case 'flapping':
      return 'DwdFlapping';
    case 'not probed':
      return isHeld ? 'DwdHeldUnprobed' : undefined;
    case 'confirming':
    case 'healthy':
      return undefined;
  }
};

/** Says what the facts of a shoot mean. Everything that tells of a shoot says this: status, explain, release, the page, Events and alerts. */
export const judgeShoot = (facts: ShootFacts, context: JudgeContext): ShootTold => {
  const judged = stateOf(facts, context);
  return {
    ...judged,
    since: sinceOf(judged, facts),
    why: whyOf(judged, facts),
    next: nextOf(judged, facts),
    do: doOf(judged, facts),
    runbook: runbookOf(judged, facts),
  };
};
