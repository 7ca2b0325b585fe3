import { titleOf } from '../../status/state/find-shoot.ts';
import { needsEyes, seedInWords, stateInWords, urgencies, worstFirst } from '../../status/state/judge-seed.ts';
import type { ShootState, ShootStatus } from '../../status/state/schema.ts';

interface StateLook {
  /** Sign in a tile of the grid, so that states do not differ by colour alone. */
  readonly sign: string;
  readonly about: string;
}

/** Looks of the states, the most urgent first. */
export const states: Readonly<Record<ShootState, StateLook>> = {
  'losing nodes': { sign: '✗', about: 'an outage, and something that should be down is up' },
  blind: { sign: '!', about: 'the last probes failed' },
  'not protected': { sign: 'N', about: 'an outage would not be met' },
  paused: { sign: '‖', about: 'verdicts continue, but nothing is scaled down' },
  held: { sign: 'H', about: 'controllers are scaled down, so that healthy nodes are not replaced' },
  landing: { sign: 'L', about: 'the outage is over; the prober waits for late kubelets' },
  restoring: { sign: 'R', about: 'held resources are scaled up' },
  flapping: { sign: 'F', about: 'healthy, and an outage came soon after a restoration' },
  confirming: { sign: 'C', about: 'a scale-down waits for a second look' },
  healthy: { sign: '', about: 'enough leases are renewed' },
  'not probed': { sign: '–', about: 'hibernated, migrating, without workers, or not probed yet' },
};

/** Returns the CSS class of a state. */
export const classOf = (state: ShootState): string => state.replaceAll(' ', '-');

/** A number of shoots that filters by their states. */
export interface Counter {
  readonly name: ShootState;
  readonly states: readonly ShootState[];
  /** True if it is shown only while it counts any. */
  readonly isRare?: boolean;
}

export const counters: readonly Counter[] = [
  { name: 'losing nodes', states: ['losing nodes'] },
  { name: 'blind', states: ['blind'] },
  { name: 'not protected', states: ['not protected'] },
  { name: 'paused', states: ['paused'] },
  { name: 'held', states: ['held'] },
  { name: 'landing', states: ['landing', 'restoring', 'flapping'] },
  { name: 'confirming', states: ['confirming'], isRare: true },
  { name: 'healthy', states: ['healthy'] },
  { name: 'not probed', states: ['not probed'], isRare: true },
];

export const countOf = ({ states: counted }: Counter, shoots: readonly ShootStatus[]): number =>
  shoots.filter(({ state }) => counted.includes(state)).length;

export interface Filter {
  readonly text: string;
  /** Absent: shoots of all states. */
  readonly counter?: Counter | undefined;
}

export const isEmpty = ({ text, counter }: Filter): boolean => counter === undefined && text.trim() === '';

/** Returns true if the filter's text occurs in the shoot's title, namespace, state, words or the names of held resources. */
export const matches = (shoot: ShootStatus, { text, counter }: Filter): boolean => {
  if (counter?.states.includes(shoot.state) === false) return false;
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
  const urgent = shoots.filter(({ state }) => urgencies[state] <= urgencies['not protected']).length;
  const eyes = shoots.filter(needsEyes).length;
  const count = urgent > 0 ? `(${String(urgent)}!) ` : eyes > 0 ? `(${String(eyes)}) ` : '';
  return {
    sentence: seedInWords(shoots),
    worst,
    title: `${count}${seed}`,
    icon: worst === 'losing nodes' ? 'alarm' : eyes > 0 ? 'eyes' : 'calm',
  } as const;
};
