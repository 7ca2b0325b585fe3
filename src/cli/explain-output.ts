import { formatAge } from '../kubernetes/api/duration.ts';
import type { RecordedDecision, ShootStatus } from '../status/state/schema.ts';
import { nextInWords, stateInWords } from '../status/state/judge-seed.ts';
import { stepsOfOutage } from '../status/state/outage.ts';
import {
  type LeaseState,
  clockTime,
  leasesInWords,
  pauseInWords,
  plural,
  stateOfLease,
} from '../status/state/words.ts';
import { type SeedStatus, titleOf } from '../status/index.ts';
import { escapeControls, indented, textColumns, wrapped } from '../telemetry/index.ts';
import { between, doInWords, utc } from './status-output.ts';

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', title, ...lines];

const percent = (share: number): string => `${String(Math.round(share * 1_000) / 10)} %`;

/** Returns the rule with its numbers, as of the last look. */
const ruleOf = (shoot: ShootStatus): string => {
  const { candidates, threshold, nodes, leftOut = 0, silentForMs } = shoot;
  if (threshold === undefined || candidates === 0) return 'No lease is known.';
  // The condition of `reachesThreshold`: expired / candidates >= threshold.
  const needed = Math.ceil(threshold * candidates - 1e-9);
  const share = `Threshold: ${String(needed)} of ${plural(candidates, 'lease')} (${percent(threshold)})`;
  const rule = silentForMs === undefined ? '' : ', or all of them silent';
  const all = nodes === undefined ? '' : ` There are ${plural(nodes, 'node')}; ${String(leftOut)} not counted.`;
  return `${share}${rule}; ${leasesInWords(shoot)}.${all}`;
};

const marginOf = (marginMs: number | undefined): string => {
  if (marginMs === undefined) return '';
  if (marginMs >= 0) return ` The last scale-down came ${formatAge(marginMs)} before that.`;
  return ` The last scale-down came ${formatAge(-marginMs)} after that: nodes may be lost.`;
};

const verdictLines = (shoot: ShootStatus, at: string): readonly string[] => {
  const { reason, lookedAt, leaseExpiryMs, graceMs, marginMs, publicAddress } = shoot;
  // A status from the objects of the seed has only the reason.
  if (graceMs === 0) return reason === '' ? [] : indented(reason);
  const looked =
    lookedAt === undefined
      ? 'Its leases were not read yet.'
      : `Last look ${utc(lookedAt)}, ${between(lookedAt, at)} ago.`;
  const times = `A lease expires ${formatAge(leaseExpiryMs)} after its last renewal, KCM gives up a node after ${formatAge(graceMs)}.`;
  return [
    ...indented(reason),
    ...indented(`${looked} ${ruleOf(shoot)} ${times}${shoot.state === 'losing nodes' ? '' : marginOf(marginMs)}`),
    ...(publicAddress === undefined ? [] : indented(`The public address, by the external probe: ${publicAddress}.`)),
  ];
};

const judgements: Readonly<Record<LeaseState, string>> = {
  'left out': '',
  expired: 'EXPIRED',
  late: 'not expired yet',
  renewed: '',
};

const leaseLines = (shoot: ShootStatus, areCounted: boolean): readonly string[] => {
  const leases = shoot.leases?.filter(({ counted }) => counted === areCounted) ?? [];
  const width = Math.max(0, ...leases.map(({ name }) => name.length));
  const oldestFirst = leases.toSorted((a, b) => (b.ageMs ?? Infinity) - (a.ageMs ?? Infinity));
  return oldestFirst.map((lease) => {
    const { name, renewedAt, ageMs, leftOut } = lease;
    const renewed = renewedAt === undefined ? 'never renewed'.padEnd(23) : utc(renewedAt);
    const age = ageMs === undefined ? '-' : formatAge(ageMs);
    const judged = leftOut ?? judgements[stateOfLease(lease, shoot)];
    return escapeControls(`  ${name.padEnd(width)}  ${renewed}  ${age.padStart(7)}  ${judged}`).trimEnd();
  });
};

const heldLines = ({ held, notProbed }: ShootStatus, at: string): readonly string[] => {
  const resources = held.flatMap(({ kind, name, replicas, since }) => {
    const when = since === undefined ? '' : `, since ${utc(since)} (${between(since, at)})`;
    const count = plural(replicas, 'replica');
    // Of a shoot that is not probed, perhaps only the annotation is removed.
    const what = notProbed === undefined ? `at 0, ${count} will be restored` : `at 0 instead of ${count}`;
    return indented(`${kind} ${name}: ${what}${when}`);
  });
  return resources.length === 0 || notProbed !== undefined
    ? resources
    : [...resources, ...indented('Held resources stay held if the prober stops; the next one restores them.')];
};

const scalingLines = ({ scaling }: ShootStatus, at: string): readonly string[] => {
  if (scaling === undefined || scaling === null) return [];
  const { direction, reason, startedAt, withoutLead, steps } = scaling;
  return [
    ...indented(`${direction}, for ${between(startedAt, at)}: ${reason}`),
    ...(withoutLead === undefined ? [] : indented(`without the lead: ${withoutLead}`)),
    ...steps
      .toSorted((a, b) => a.level - b.level)
      .flatMap(({ kind, name, level, state, detail }) =>
        indented(`level ${String(level)}  ${kind} ${name}: ${state}${detail === undefined ? '' : ` (${detail})`}`, 4),
      ),
  ];
};

const decisionLines = (decisions: readonly RecordedDecision[]): readonly string[] =>
  decisions.toReversed().flatMap(({ at, lastAt, runs, verdict, reason }) => {
    const times = runs === 1 ? '' : ` to ${utc(lastAt)}, ${plural(runs, 'run')}`;
    return [...indented(`${utc(at)}${times}: ${verdict}`), ...indented(reason, 6)];
  });

const timelineLines = (shoot: ShootStatus): readonly string[] =>
  stepsOfOutage(shoot).flatMap(({ at, what, detail }, index, all) => {
    const before = all[index - 1];
    const after = before === undefined ? '' : ` (+${between(before.at, at)})`;
    return indented(`${clockTime(at)}${after}  ${detail === '' ? what : `${what}: ${detail}`}`);
  });

/** Formats what is told of a shoot, the argument for it, the present outage, and the last decisions, without control characters other than line feeds. */
export const formatExplanation = (shoot: ShootStatus, { at, seed }: Pick<SeedStatus, 'at' | 'seed'>): string => {
  const { namespace, since, decisions = [], paused, lookedAt } = shoot;
  const when = since === undefined ? '' : ` since ${utc(since)} (${between(since, at)})`;
  const title = `${titleOf(shoot)} (${namespace}, seed ${seed}) is ${stateInWords(shoot)}${when}.`;
  const next = nextInWords(shoot, at);
  const what = doInWords(shoot);
  const asOf = lookedAt === undefined ? '' : ` as of ${clockTime(lookedAt)}`;
  return `${[
    ...wrapped(title, textColumns),
    ...indented(shoot.why),
    ...(next === '' ? [] : indented(`next: ${next}`)),
    ...(what === '' ? [] : indented(`do: ${what}`)),
    ...section(`VERDICT${asOf}`, verdictLines(shoot, at)),
    ...section(`LEASES THAT COUNT${asOf} (oldest renewal first)`, leaseLines(shoot, true)),
    ...section('NOT COUNTED', leaseLines(shoot, false)),
    ...section('HELD', heldLines(shoot, at)),
    ...section('SCALING', scalingLines(shoot, at)),
    ...section('PAUSED', paused === null ? [] : indented(pauseInWords(paused))),
    ...section('PRESENT OUTAGE', timelineLines(shoot)),
    ...section('DECISIONS (latest first)', decisionLines(decisions)),
  ].join('\n')}\n`;
};
