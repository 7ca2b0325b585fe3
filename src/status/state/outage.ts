import type { RecordedDecision, ShootStatus } from './schema.ts';

const acts: ReadonlySet<string> = new Set([
  'scaled down',
  'scaled up',
  'given back',
  'undone',
  'released',
  'paused',
  'resumed',
]);

/** Names of verdicts as steps of an outage; another verdict is a failed read. */
const stepNames: Readonly<Record<string, string>> = {
  confirming: 'suspected',
  unhealthy: 'confirmed',
  landing: 'landing',
  healthy: 'over',
  skipped: 'not judged',
};

/** A step of an outage: what happened, and its reason or its resource. */
export interface OutageStep {
  readonly at: string;
  readonly what: string;
  readonly detail: string;
}

/** Returns the steps of the present outage: its verdicts and what was done, the first one first; none without an outage. */
export const stepsOfOutage = ({ decisions = [], held, outageSince, verdict }: ShootStatus): readonly OutageStep[] => {
  if (held.length === 0 && verdict !== 'unhealthy' && verdict !== 'landing') return [];
  const isCalm = ({ verdict: word }: RecordedDecision): boolean => word === 'healthy' || word === 'skipped';
  const lastCalm = decisions.findLastIndex(
    (one, index) => isCalm(one) && decisions.slice(index + 1).some(({ verdict: word }) => word === 'unhealthy'),
  );
  const present = decisions.slice(lastCalm + 1);
  // An act between two runs does not make the same verdict news.
  const isNews = ({ verdict: word }: RecordedDecision, index: number): boolean =>
    acts.has(word) || present.slice(0, index).findLast(({ verdict }) => !acts.has(verdict))?.verdict !== word;
  const steps = present.filter(isNews).map(({ at, verdict: word, reason }) => ({
    at,
    what: stepNames[word] ?? (acts.has(word) ? word : 'cannot be read'),
    // The countdown of a landing is that of its latest run.
    detail: word === 'landing' ? '' : reason,
  }));
  return [
    ...(outageSince === undefined ? [] : [{ at: outageSince, what: 'over the threshold', detail: '' }]),
    ...steps,
  ].toSorted((a, b) => (a.at < b.at ? -1 : 1));
};
