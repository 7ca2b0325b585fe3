import { titleOf } from '../../status/state/find-shoot.ts';
import { needsEyes, seedInWords, stateInWords, worstFirst } from '../../status/state/judge-seed.ts';
import type { ShootStatus } from '../../status/state/schema.ts';
import { type ShootState, isAsUrgentAs, shootStates } from '../../status/state/states.ts';

/** Signs in the tiles of the grid, so that states do not differ by colour alone. */
export const signs: Readonly<Record<ShootState, string>> = {
  'losing nodes': '✗',
  blind: '!',
  'not protected': 'N',
  paused: '‖',
  held: 'H',
  landing: 'L',
  restoring: 'R',
  flapping: 'F',
  confirming: 'C',
  healthy: '',
  'not probed': '–',
};

/** Returns the CSS class of a state. */
export const classOf = (state: ShootState): string => state.replaceAll(' ', '-');

/** Returns the counter of a state: that of `landing` counts all that are on the way up. */
const counterOf = (state: ShootState): ShootState =>
  state === 'restoring' || state === 'flapping' ? 'landing' : state;

export const counters = shootStates.filter((state) => counterOf(state) === state);

/** Counters that are shown only while they count any. */
export const rareCounters: readonly ShootState[] = ['confirming', 'not probed'];

export const countOf = (counter: ShootState, shoots: readonly ShootStatus[]): number =>
  shoots.filter(({ state }) => counterOf(state) === counter).length;

export interface Filter {
  readonly text: string;
  /** Absent: shoots of all states. */
  readonly counter?: ShootState;
}

export const isEmpty = ({ text, counter }: Filter): boolean => counter === undefined && text.trim() === '';

/** Returns true if the filter's text occurs in the shoot's title, namespace, state, words or the names of held resources. */
export const matches = (shoot: ShootStatus, { text, counter }: Filter): boolean => {
  if (counter !== undefined && counterOf(shoot.state) !== counter) return false;
  const wanted = text.trim().toLowerCase();
  const held = shoot.held.map(({ name }) => name);
  return [titleOf(shoot), shoot.namespace, stateInWords(shoot), shoot.why, shoot.do, ...held].some((words) =>
    words.toLowerCase().includes(wanted),
  );
};

/** Returns the shoots of each project, projects and shoots in the order of their names. */
export const byProject = (shoots: readonly ShootStatus[]): ReadonlyMap<string, readonly ShootStatus[]> => {
  const inOrder = shoots.toSorted((a, b) => titleOf(a).localeCompare(titleOf(b), 'en'));
  return Map.groupBy(inOrder, ({ project = '' }) => project);
};

/** Returns what the seed is like, for its head line, the title and the icon. */
export const lookOf = (seed: string, shoots: readonly ShootStatus[]) => {
  const worst = worstFirst(shoots)[0]?.state ?? 'healthy';
  const urgent = shoots.filter(({ state }) => isAsUrgentAs(state, 'not protected')).length;
  const eyes = shoots.filter(needsEyes).length;
  const count = urgent > 0 ? `(${String(urgent)}!) ` : eyes > 0 ? `(${String(eyes)}) ` : '';
  return {
    sentence: seedInWords(shoots),
    worst,
    title: `${count}${seed}`,
    icon: worst === 'losing nodes' ? 'alarm' : eyes > 0 ? 'eyes' : 'calm',
  } as const;
};
