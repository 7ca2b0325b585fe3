import { formatAge } from '../../kubernetes/api/duration.ts';
import type { ShootStatus, ShootTold } from './schema.ts';
import { type ShootState, isAsUrgentAs, shootStates } from './states.ts';
import { clockTime, plural, withoutNumbers } from './words.ts';

/** What of a shoot shows if somebody should look at it. */
type Seen = Pick<ShootStatus, 'state' | 'held' | 'notProbed' | 'failing'>;

type Told = Seen & Pick<ShootStatus, 'since' | 'namespace' | 'why' | 'next' | 'do' | 'verdict' | 'silentForMs'>;

/** True if somebody should look at the shoot: it is not healthy. One that is not probed only if something is held, or its first probe has failed. */
export const needsEyes = ({ state, held, notProbed, failing }: Seen): boolean =>
  state === 'not probed' ? held.length > 0 || (notProbed === undefined && failing !== undefined) : state !== 'healthy';

/** States that do not say by themselves whether resources are held. */
const heldBeside: ReadonlySet<ShootState> = new Set(['blind', 'not protected', 'not probed']);

/** Returns the state as it is shown: `HELD, BLIND` for a blind shoot with held resources; `healthy` in small letters. */
export const stateInWords = (shoot: Seen): string => {
  const { state, held } = shoot;
  if (!needsEyes(shoot)) return state;
  const isBoth = held.length > 0 && heldBeside.has(state);
  return (isBoth ? `held, ${state}` : state).toUpperCase();
};

/** A shoot that is not probed and held ranks with those that are held, one whose first probe has failed with those that need eyes last. */
const rankOf = (shoot: Told): number => {
  const other = shoot.held.length > 0 ? 'held' : 'confirming';
  return shootStates.indexOf(shoot.state === 'not probed' && needsEyes(shoot) ? other : shoot.state);
};

const sinceOf = ({ since }: Told): number => (since === undefined ? Number.MAX_VALUE : Date.parse(since));

/** Sorts the most urgent first, then by time in that state, the longest first. */
export const worstFirst = <T extends Told>(shoots: readonly T[]): readonly T[] =>
  shoots.toSorted((a, b) => rankOf(a) - rankOf(b) || sinceOf(a) - sinceOf(b) || (a.namespace < b.namespace ? -1 : 1));

interface StateCount {
  readonly state: ShootState;
  readonly count: number;
  /** Earliest start of that state; absent: not known. */
  readonly since?: string;
  /** Number of those whose nodes are all silent, and of those of which resources are held. */
  readonly allSilent: number;
  readonly held: number;
}

/** Counts the shoots by state, the most urgent first. A shoot that is held and blind counts as blind. */
const countByState = (shoots: readonly Told[]): readonly StateCount[] =>
  shootStates.flatMap((state) => {
    const those = shoots.filter((shoot) => shoot.state === state);
    if (those.length === 0) return [];
    const [since] = those.flatMap((shoot) => shoot.since ?? []).toSorted();
    const allSilent = those.filter(({ silentForMs }) => silentForMs !== undefined).length;
    const held = those.filter((shoot) => shoot.held.length > 0).length;
    return [{ state, count: those.length, since, allSilent, held }];
  });

/** What shoots are in a state, where that is not its name. */
const phrases: Readonly<Partial<Record<ShootState, string>>> = {
  restoring: 'being restored',
  confirming: 'suspected of an outage',
};

/** Returns the verdict of a seed in one sentence: `1 of 300 shoots is losing nodes, 238 held since 23:10 (all silent), 61 healthy`. */
export const seedInWords = (shoots: readonly Told[]): string => {
  if (shoots.length === 0) return 'it has no shoots';
  const counts = countByState(shoots);
  const all = plural(shoots.length, 'shoot');
  if (counts.length === 1 && counts[0]?.state === 'healthy') {
    return shoots.length === 1 ? '1 shoot, healthy' : `${all}, all healthy`;
  }
  return counts
    .map(({ state, count, since, allSilent, held }, index) => {
      const from = state === 'held' && since !== undefined ? ` since ${clockTime(since).slice(0, 5)}` : '';
      const silent = state === 'held' && allSilent === count ? ' (all silent)' : '';
      const of = index === 0 ? ` of ${all} ${count === 1 ? 'is' : 'are'}` : '';
      const words = `${String(count)}${of} ${phrases[state] ?? state}`;
      const both = heldBeside.has(state) && held > 0 ? ` (${held === count ? '' : `${String(held)} `}held)` : '';
      return `${words}${from}${silent}${both}`;
    })
    .join(', ');
};

/** Shoots that are told in one row, because all that is told of them is the same but for its numbers. */
export interface ShootGroup<T> {
  /** The first of them, in the order of the list. */
  readonly first: T;
  readonly shoots: readonly T[];
}

/** More equal shoots than this become one row. */
const mostAlike = 10;

/** Returns the runbook of a shoot; none where nothing is to be done and all goes by itself. */
export const runbookToShow = ({
  do: what,
  runbook,
  state,
}: Pick<ShootStatus, 'do' | 'runbook' | 'state'>): string | undefined =>
  what === '' && !isAsUrgentAs(state, 'not protected') ? undefined : runbook;

const likeness = (shoot: Told): string =>
  JSON.stringify([
    stateInWords(shoot),
    ...[shoot.why, shoot.next.text, shoot.do].map((text) => withoutNumbers(text.replaceAll(shoot.namespace, ''))),
  ]);

/** Groups equal shoots if there are more than ten of them, and keeps the order of the first of each group. */
export const foldShoots = <T extends Told>(shoots: readonly T[]): readonly ShootGroup<T>[] => {
  const alike = new Map<string, T[]>();
  for (const shoot of shoots) {
    const key = likeness(shoot);
    const those = alike.get(key);
    if (those === undefined) alike.set(key, [shoot]);
    else those.push(shoot);
  }
  return [...alike.values()].flatMap((those): readonly ShootGroup<T>[] => {
    const [first] = those;
    if (first === undefined) return [];
    return those.length > mostAlike ? [{ first, shoots: those }] : those.map((one) => ({ first: one, shoots: [one] }));
  });
};

/** Returns the next step with the time until then: `next probe in 7s`. */
export const nextInWords = ({ next }: Pick<ShootTold, 'next'>, at: string): string => {
  if (next.at === undefined || next.text === '') return next.text;
  const restMs = Date.parse(next.at) - Date.parse(at);
  return Math.round(restMs / 1_000) <= 0 ? `${next.text} now` : `${next.text} in ${formatAge(restMs)}`;
};
