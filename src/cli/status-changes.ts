import { type SeedStatus, titleOf } from '../status/index.ts';
import { stateInWords } from '../status/state/judge-seed.ts';
import type { ShootStatus } from '../status/state/schema.ts';
import { clockTime, withoutNumbers } from '../status/state/words.ts';
import { escapeControls } from '../telemetry/index.ts';
import { leaderInWords, rowOf, verdictInWords } from './status-output.ts';

/** Returns what a change of a shoot changes; numbers alone are none. */
const keyOf = (shoot: ShootStatus): string =>
  JSON.stringify([
    stateInWords(shoot),
    shoot.causes,
    shoot.state === 'healthy' ? '' : withoutNumbers(shoot.why),
    shoot.do,
  ]);

const leaderKey = ({ lease, source }: SeedStatus): string => JSON.stringify([lease?.holder, lease?.isFresh, source]);

const added = (before: readonly string[], after: readonly string[]): readonly string[] => {
  const known = new Set(before.map(withoutNumbers));
  return after.filter((text) => !known.has(withoutNumbers(text)));
};

/** Returns a line for each change between two statuses: of the leader, of problems, and of shoots that have changed, appeared or vanished. */
export const changeLines = (before: SeedStatus, after: SeedStatus): readonly string[] => {
  const { at } = after;
  const known = new Map(before.shoots.map((shoot) => [shoot.namespace, shoot]));
  const shoots = after.shoots.flatMap((shoot) => {
    const former = known.get(shoot.namespace);
    known.delete(shoot.namespace);
    if (former !== undefined && keyOf(former) === keyOf(shoot)) return [];
    const { cells, why, next, what } = rowOf(shoot, at);
    const [title, state] = cells;
    return [`${title}  ${state}  ${why}${next === '' ? '' : `; next: ${next}`}${what === '' ? '' : `; do: ${what}`}`];
  });
  // Without a prober that responds, nothing is known of a shoot that is not held.
  const isSeen = (status: SeedStatus): boolean => status.source === 'leader' || status.source === 'standby';
  const gone = isSeen(before) && isSeen(after) ? [...known.values()].map((shoot) => `${titleOf(shoot)}  GONE`) : [];
  const lines = [
    ...(leaderKey(before) === leaderKey(after) ? [] : [leaderInWords(after)]),
    ...(before.source === after.source ? [] : [verdictInWords(after)]),
    ...added(before.problems, after.problems).map((text) => `? ${text}`),
    ...added(after.problems, before.problems).map((text) => `over: ${text}`),
    ...added(before.attention, after.attention).map((text) => `! ${text}`),
    ...added(after.attention, before.attention).map((text) => `over: ${text}`),
    ...shoots,
    ...gone,
  ];
  return lines.map((line) => escapeControls(`${clockTime(at)}  ${line}`));
};
