import { formatAge } from '../../kubernetes/api/duration.ts';
import { protect, quoted } from './do.ts';
import type { ResourceInShoot, ShootFacts, ShootTold, UnprotectedCause } from './schema.ts';
import type { ShootState } from './states.ts';
import { asOf, canNotSee, clockTime, leasesInWords, listed, pauseInWords } from './words.ts';

/** Context of a judgement. */
export interface JudgeContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly probeIntervalMs: number;
  /** True if the prober writes nothing. */
  readonly dryRun: boolean;
  /** True if the prober leads: only the leader restores. */
  readonly leads: boolean;
  /** True while the prober cannot see if the shoot is hibernated or deleted: until then it restores nothing. */
  readonly isClusterStale?: boolean | undefined;
}

/** A shoot is blind after this many failed runs in a row, or after this many probe intervals. */
const blindAfter = 3;

const isBlind = ({ failing }: ShootFacts, { now, probeIntervalMs }: JudgeContext): boolean =>
  failing !== undefined &&
  (failing.runs >= blindAfter || now - Date.parse(failing.since) >= blindAfter * probeIntervalMs);

/** An outage that leaves less than this of the grace, in milliseconds, is not met in time. */
const leastRestMs = 2_000;

const isOutage = ({ verdict }: ShootFacts): boolean => verdict === 'unhealthy';

/** Returns all causes for which an outage of a probed shoot would not be met; none if it would, as far as the facts show. */
const causesOf = (facts: ShootFacts, { dryRun }: JudgeContext): readonly UnprotectedCause[] => {
  const { paused, missing = [], notServed = [], ignored = [], graceMs, actsAfterMs } = facts;
  const found: readonly (readonly [UnprotectedCause, boolean])[] = [
    ['missing', missing.length > 0],
    ['not-served', notServed.length > 0],
    ['too-few-nodes', isTooFew(facts)],
    ['grace', actsAfterMs !== undefined && actsAfterMs > graceMs - leastRestMs],
    ['ignore-scaling', ignored.length > 0],
    ['paused', paused !== null],
    ['dry-run', dryRun],
  ];
  return found.flatMap(([cause, isSo]) => (isSo ? cause : []));
};

/**
 * Nodes and machines are listed only to judge an outage: without the right to, the leases show that the shoot is healthy now, but no outage would be met. One that
 * was seen before goes on, as far as is known.
 */
const isRightMissing = (facts: ShootFacts): boolean =>
  facts.failing?.kind === 'rights' && facts.failing.read !== 'leases' && !isAnOutageKnown(facts);

/** True if the shoot was in an outage when it was seen last. */
export const isAnOutageKnown = (facts: ShootFacts): boolean =>
  facts.held.length > 0 || facts.inOutage === true || isOutage(facts);

/** Returns the resources that `ignore-scaling` keeps up in an outage. */
const keptUp = ({ ignored = [] }: ShootFacts) => ignored.filter(({ isDown }) => !isDown);
/** Returns those that it keeps down after one. */
const keptDown = ({ ignored = [] }: ShootFacts) => ignored.filter(({ isDown }) => isDown);

const stateOfHeld = (facts: ShootFacts): ShootState => {
  const { verdict, progress, missing = [], notServed = [] } = facts;
  if (progress !== undefined && progress.direction !== 'down') return 'restoring';
  if (verdict === 'landing') return 'landing';
  if (verdict === 'healthy') return 'restoring';
  return isOutage(facts) && missing.length + notServed.length > 0 ? 'not protected' : 'held';
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
  readonly causes: readonly UnprotectedCause[];
}

/** All that is known of a shoot when it is told. */
interface Known extends ShootFacts, JudgeContext, Judged {
  /** Its leases in words, as of their last list if the last run has failed, or none has ended for three intervals. */
  readonly counts: string;
}

const countsOf = (facts: ShootFacts, { now, probeIntervalMs }: JudgeContext): string => {
  const { failing, lookedAt } = facts;
  const isLate = lookedAt !== undefined && now - Date.parse(lookedAt) > blindAfter * probeIntervalMs;
  return failing !== undefined || isLate ? asOf(facts) : leasesInWords(facts);
};

/** Returns the first state that applies, the most urgent first. */
const stateOf = (facts: ShootFacts, context: JudgeContext): Judged => {
  const { held, up = [], stillRunning = [], unread = [], notProbed } = facts;
  if (notProbed !== undefined) return { state: 'not probed', causes: [] };
  const causes = causesOf(facts, context);
  if (isBlind(facts, context)) {
    return isRightMissing(facts)
      ? { state: 'not protected', causes: ['nodes-not-listed', ...causes] }
      : { state: 'blind', causes: ['blind', ...causes] };
  }
  const isUnmet = up.length + stillRunning.length > 0 || (isOutage(facts) && unread.length > 0);
  if (isUnmet && !context.dryRun) return { state: 'losing nodes', causes };
  if (held.length > 0) {
    const state = stateOfHeld(facts);
    return { state, causes: state === 'not protected' ? causes : [] };
  }
  if (causes.length === 0) return { state: stateByVerdict(facts), causes };
  return { state: causes.every((cause) => cause === 'paused') ? 'paused' : 'not protected', causes };
};

/** Joins what is so: with two faults both are told, and both must be mended. */
const all = (...texts: readonly string[]): string => texts.filter((text) => text !== '').join('; ');

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

const andIgnored = (facts: ShootFacts): string => (facts.ignored === undefined ? '' : `; ${ignoredInWords(facts)}`);

const heldInWords = (facts: ShootFacts): string => {
  const { held } = facts;
  return `${held.length === 0 ? 'nothing is up that would replace its nodes' : `held: ${listed(held)}`}${andIgnored(facts)}${andFailed(facts, held)}`;
};

/** Returns the resources among these that could not be scaled. */
const failedOf = ({ failedWrites = [] }: ShootFacts, those: readonly ResourceInShoot[]) =>
  failedWrites.filter(({ kind, name }) => those.some((one) => one.kind === kind && one.name === name));

/** Says what could not be scaled; empty if nothing. */
const andFailed = (facts: ShootFacts, those: readonly ResourceInShoot[]): string =>
  [...Map.groupBy(failedOf(facts, those), ({ error }) => error)]
    .map(([error, failed]) => `; ${listed(failed)} could not be scaled: ${error}`)
    .join('');

/** Says what a person does about those; empty if there are none. */
const mendScaling = (facts: ShootFacts, those: readonly ResourceInShoot[]): string =>
  failedOf(facts, those).length === 0 ? '' : 'mend what keeps the prober from scaling';

/** Returns the leases; before the first look, what the annotations of held resources say. */
const whatIsSeen = ({ lookedAt, reason, counts }: Known): string =>
  lookedAt === undefined && reason !== '' ? reason : counts;

const are = (resources: readonly unknown[], verb: 'is' | 'was' = 'is'): string => {
  const many = verb === 'is' ? 'are' : 'were';
  return resources.length === 1 ? verb : many;
};

/** Says which resources are not known to be down; empty if all are. */
const whyUnread = ({ unread = [] }: ShootFacts): string =>
  unread.length === 0 ? '' : `; not known whether ${listed(unread)} ${are(unread)} down`;

/** Says which resources are at 0 while their pods still run; empty if none. */
const andStillRunning = ({ stillRunning = [] }: ShootFacts): string => {
  const pods = `${stillRunning.length === 1 ? 'its' : 'their'} pods`;
  return stillRunning.length === 0
    ? ''
    : `; ${listed(stillRunning)} ${are(stillRunning)} scaled to 0, but ${pods} still run`;
};

const whyLosing = (facts: Known): string => {
  const { up = [] } = facts;
  const told = new Set([...keptUp(facts), ...failedOf(facts, up)].map(({ name }) => name));
  const others = up.filter(({ name }) => !told.has(name));
  const still = others.length === 0 ? '' : `; ${listed(others)} ${are(others)} still up`;
  const why = `${andFailed(facts, up)}${still}${andStillRunning(facts)}${andIgnored(facts)}${whyUnread(facts)}`;
  return `${facts.counts}${why}${andHeld(facts)}${andPaused(facts)}`;
};

const whyBlind = (facts: ShootFacts): string => {
  const { up = [] } = facts;
  const left = up.length === 0 ? '' : `, and ${listed(up)} ${are(up, 'was')} still up`;
  return `${canNotSee(facts)}; ${asOf(facts)}${left}${andStillRunning(facts)}${andHeld(facts)}`;
};

/** How many nodes a shoot has, how many of them count, and why the others do not. */
export type CountedNodes = Pick<ShootFacts, 'candidates' | 'nodes' | 'leftOutReasons'>;

/** True if no outage of the shoot could be seen. */
export const isTooFew = ({ nodes, candidates }: CountedNodes): boolean => (nodes ?? 0) > 0 && candidates < 2;

export const whyTooFew = ({ candidates, nodes = 0, leftOutReasons = [] }: CountedNodes): string => {
  const reasons = leftOutReasons.slice(0, 2).map(({ reason, nodes: count }) => `${String(count)} (${reason})`);
  const why = reasons.length === 0 ? '' : `; not counted: ${reasons.join(', ')}`;
  return `${String(candidates)} of ${String(nodes)} nodes count, and an outage shows by two at least${why}`;
};

const whyCause = (cause: UnprotectedCause, facts: ShootFacts): string => {
  const { missing = [], notServed = [], graceMs, actsAfterMs = 0, failing } = facts;
  switch (cause) {
    case 'nodes-not-listed':
      return `its ${failing?.read ?? 'nodes'} cannot be listed: ${failing?.reason ?? ''}`;
    case 'too-few-nodes':
      return whyTooFew(facts);
    case 'missing':
      return `there is no ${listed(missing)} to scale down`;
    case 'not-served':
      return `the seed does not serve ${listed(notServed)}, so it cannot be scaled down`;
    case 'ignore-scaling':
      return ignoredInWords(facts);
    case 'grace':
      return `an outage shows after ${formatAge(actsAfterMs)} at the earliest, and KCM gives up a node after ${formatAge(graceMs)}, which is too soon`;
    case 'dry-run':
      return 'dry run: nothing is written in an outage';
    case 'paused':
      return andPaused(facts).slice(2);
    case 'blind':
      return whyBlind(facts);
  }
};

/** Says all causes: a shoot that is blind may lack more than its eyes. */
const whyCauses = (facts: Known): string => all(...facts.causes.map((cause) => whyCause(cause, facts)));

const whyUnprotected = (facts: Known): string => {
  const isTold = isAnOutageKnown(facts) || facts.verdict === 'confirming';
  const seen = isTold ? `${facts.counts}${andHeld(facts)}${andFailed(facts, facts.held)}` : '';
  const why = all(seen, whyCauses(facts));
  // That cause is what the last run could not read.
  return facts.causes.includes('nodes-not-listed') ? why : withFailure(why, facts);
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
  if (notProbed !== undefined) return `${notProbed.reason}${andHeld(facts)}${andFailed(facts, facts.held)}`;
  return failing === undefined ? 'its first probe has not ended yet' : `its first probe failed: ${canNotSee(facts)}`;
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

/** What is said of a shoot in one state. */
type Said = Omit<ShootTold, 'state' | 'causes' | 'do'> & { readonly do?: string };

/** Returns what lifts `ignore-scaling` from what it keeps down; empty if it keeps nothing down. */
const letUp = (facts: ShootFacts): string => protect('ignore-scaling', { ...facts, ignored: keptDown(facts) });

/** Says who restores, or gives back, if this prober does not. */
const restoredByOther = ({ dryRun, leads }: JudgeContext, act = 'restored'): ShootTold['next'] | undefined => {
  if (dryRun) return { text: 'a dry run restores nothing' };
  return leads ? undefined : { text: `${act} by the replica that leads` };
};

/** Says why this prober does not restore yet, or never does. */
const notRestoredYet = (context: JudgeContext): ShootTold['next'] | undefined =>
  restoredByOther(context) ??
  (context.isClusterStale === true
    ? { text: 'restored when the clusters of the seed can be read again: it may be hibernated or deleted by now' }
    : undefined);

const nextLanding = ({ landing }: ShootFacts): ShootTold['next'] => {
  if (landing === undefined) return { text: 'restored soon' };
  const { earliest, latest } = landing;
  return earliest === undefined || earliest === latest
    ? { text: 'restored when all renew, at the latest', at: latest }
    : { text: `restored at the latest at ${clockTime(latest)}, at the earliest`, at: earliest };
};

const nextUnprobed = (facts: Known): ShootTold['next'] => {
  const { notProbed, held, failing, nextRunAt: at } = facts;
  if (notProbed === undefined) return { text: failing === undefined ? 'first probe' : 'next probe', at };
  const moving = progressInWords(facts);
  if (moving !== undefined) return moving;
  if (held.length === 0) return { text: '' };
  if (failedOf(facts, held).length > 0) return { text: 'tries again to give them back' };
  if (!notProbed.givesBack) return { text: 'nothing restores them by itself' };
  return restoredByOther(facts, 'given back') ?? { text: 'its held resources are given back' };
};

/** Returns what a person does about all causes. */
const protectFrom = (facts: Known): string => all(...facts.causes.map((cause) => protect(cause, facts)));

const doLosing = (facts: Known): string => {
  const { up = [], stillRunning = [], unread = [] } = facts;
  const end = stillRunning.length === 0 ? '' : `see why pods of ${listed(stillRunning)} still run`;
  const mended = all(mendScaling(facts, up), protectFrom(facts), end);
  if (mended !== '') return mended;
  return up.length === 0
    ? `see why ${listed(unread)} cannot be read`
    : `see why ${listed(up)} ${are(up)} not scaled down`;
};

const nextLosing = (facts: ShootFacts): ShootTold['next'] => {
  const { up = [], unread = [], nextRunAt, paused } = facts;
  if (paused !== null && up.length + unread.length > 0) {
    return { text: 'nothing is scaled down while it is paused', at: paused.until };
  }
  if (unread.length > 0 || up.length > keptUp(facts).length) {
    return { text: 'tries again at the next probe', at: nextRunAt };
  }
  return up.length > 0
    ? { text: 'nothing scales down what ignore-scaling keeps up' }
    : { text: 'down as soon as its pods have ended' };
};

const nextUnprotected = ({ causes, held }: Known): string =>
  all(
    `protected once that is mended${causes.includes('paused') ? ' and the pause is over' : ''}`,
    held.length === 0 ? '' : 'what is held is restored when its nodes renew',
  );

const said: Readonly<Record<ShootState, (facts: Known) => Said>> = {
  'losing nodes': (facts) => ({
    since: facts.outageSince,
    why: withFailure(whyLosing(facts), facts),
    next: (facts.paused === null ? progressInWords(facts) : undefined) ?? nextLosing(facts),
    do: doLosing(facts),
    runbook: 'DwdOutageUnmet',
  }),
  blind: (facts) => {
    const text = facts.held.length > 0 ? `cannot be restored until ${unreadOf(facts)}; next probe` : 'next probe';
    return {
      since: facts.failing?.since,
      why: whyCauses(facts),
      next: { text, at: facts.nextRunAt },
      do: protectFrom(facts),
      runbook: isAnOutageKnown(facts) ? 'DwdShootBlind' : 'DwdShootUnprotected',
    };
  },
  'not protected': (facts) => ({
    why: whyUnprotected(facts),
    next: progressInWords(facts) ?? { text: nextUnprotected(facts) },
    do: all(mendScaling(facts, facts.held), protectFrom(facts)),
    runbook: 'DwdShootUnprotected',
  }),
  paused: (facts) => ({
    why: whyUnprotected(facts),
    next: progressInWords(facts) ?? { text: 'protected again when the pause ends', at: facts.paused?.until },
    do: protectFrom(facts),
    runbook: 'DwdPausedLong',
  }),
  held: (facts) => {
    const moving = facts.progress?.direction === 'down' ? progressInWords(facts) : undefined;
    return {
      since: facts.held.flatMap(({ since }) => since ?? []).toSorted((a, b) => Date.parse(a) - Date.parse(b))[0],
      why: withFailure(`${whatIsSeen(facts)}; ${heldInWords(facts)}${andPaused(facts)}`, facts),
      next: moving ?? notRestoredYet(facts) ?? { text: 'restored when its nodes renew' },
      do: all(mendScaling(facts, facts.held), letUp(facts)),
      runbook: 'DwdHeld',
    };
  },
  landing: (facts) => ({
    why: withFailure(`${whyLanding(facts)}${andIgnored(facts)}${andFailed(facts, facts.held)}`, facts),
    next: notRestoredYet(facts) ?? nextLanding(facts),
    do: all(mendScaling(facts, facts.held), letUp(facts)),
    runbook: 'DwdHeld',
  }),
  restoring: (facts) => ({
    why: withFailure(`${whatIsSeen(facts)}; ${heldInWords(facts)}`, facts),
    next: (facts.isClusterStale === true ? undefined : progressInWords(facts)) ??
      notRestoredYet(facts) ?? { text: 'restores at the next probe', at: facts.nextRunAt },
    do: all(mendScaling(facts, facts.held), letUp(facts)),
    runbook: 'DwdHeld',
  }),
  flapping: (facts) => ({
    why: withFailure('an outage came within ten minutes of the restoration before', facts),
    next: { text: 'the next restoration waits longer; next probe', at: facts.nextRunAt },
    runbook: 'DwdFlapping',
  }),
  confirming: (facts) => ({
    why: withFailure(facts.counts, facts),
    next: progressInWords(facts) ?? { text: 'looks again', at: facts.nextRunAt },
  }),
  healthy: (facts) => ({
    why: withFailure(facts.counts, facts),
    next: { text: 'next probe', at: facts.nextRunAt },
  }),
  'not probed': (facts) => ({
    why: whyNotProbed(facts),
    next: nextUnprobed(facts),
    do: all(
      mendScaling(facts, facts.held),
      facts.held.length > 0 && facts.notProbed?.givesBack !== true
        ? `to restore them: dwd release --shoot ${quoted(facts.namespace)}`
        : '',
    ),
    runbook: facts.held.length > 0 ? 'DwdHeldUnprobed' : undefined,
  }),
};

/** Says what the facts of a shoot mean. Everything that tells of a shoot says this: status, explain, release, the page, Events and alerts. */
export const judgeShoot = (facts: ShootFacts, context: JudgeContext): ShootTold => {
  const judged = stateOf(facts, context);
  const known = { ...facts, ...context, ...judged, counts: countsOf(facts, context) };
  return { ...judged, do: '', ...said[judged.state](known) };
};
