import { needsEyes, worstFirst } from '../../status/state/judge-seed.ts';
import type { ShootState, ShootStatus } from '../../status/state/schema.ts';
import { leasesInWords } from '../../status/state/words.ts';

interface StateLook {
  /** Sign in a cell of the grid, so that states do not differ by colour alone. */
  readonly sign: string;
  readonly about: string;
}

/** States in the order of `dwd status`, the most urgent first. */
export const states: Readonly<Record<ShootState, StateLook>> = {
  'losing nodes': { sign: '✗', about: 'an outage, and something that should be down is up' },
  blind: { sign: '!', about: 'the last probes failed' },
  'not protected': { sign: 'N', about: 'an outage would not be met' },
  paused: { sign: '‖', about: 'verdicts continue, but nothing is scaled down' },
  held: { sign: 'H', about: 'controllers are scaled down, so that healthy nodes are not replaced' },
  landing: { sign: 'L', about: 'the outage is over; the prober waits for late kubelets' },
  restoring: { sign: 'R', about: 'held resources are scaled up' },
  flapping: { sign: 'F', about: 'healthy, and an outage came soon after a restoration' },
  confirming: { sign: 'C', about: 'a scale-down waits for a second observation' },
  healthy: { sign: '', about: 'enough leases are renewed' },
  'not probed': { sign: '?', about: 'hibernated, migrating, without workers, or not probed yet' },
};

export const stateNames = Object.keys(states) as readonly ShootState[];

/** Returns the CSS class of a state. */
export const classOf = (state: ShootState): string => state.replaceAll(' ', '-');

export const titleOf = ({ project, name, namespace }: ShootStatus): string =>
  project ? `${project}/${name}` : name || namespace;

export const isPlainHealthy = (shoot: ShootStatus): boolean => !needsEyes(shoot);

export const sorted = (shoots: readonly ShootStatus[]): readonly ShootStatus[] => worstFirst(shoots);

export interface Filter {
  readonly text: string;
  /** States to show; all if empty. */
  readonly states: ReadonlySet<ShootState>;
}

/** Returns true if the filter's text occurs in the shoot's title, namespace, state, words or the names of held resources. */
export const matches = (shoot: ShootStatus, filter: Filter): boolean => {
  if (filter.states.size > 0 && !filter.states.has(shoot.state)) return false;
  const wanted = filter.text.trim().toLowerCase();
  if (wanted === '') return true;
  const held = shoot.held.map(({ name }) => name);
  return [titleOf(shoot), shoot.namespace, shoot.state, shoot.why, shoot.do, ...held].some((text) =>
    text.toLowerCase().includes(wanted),
  );
};

export const countByState = (shoots: readonly ShootStatus[]): ReadonlyMap<ShootState, number> => {
  const counts = new Map<ShootState, number>();
  for (const { state } of shoots) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
};

export const leasesOf = (shoot: ShootStatus): string => leasesInWords(shoot);

/** Short names, the same as in `dwd status`. */
const shortNames: Readonly<Record<string, string>> = {
  'kube-controller-manager': 'kcm',
  'machine-controller-manager': 'mcm',
  'cluster-autoscaler': 'ca',
};

const shortName = ({ name }: { readonly name: string }): string => shortNames[name] ?? name;

/** Lists held resources, each with the replicas to restore. */
export const heldOf = ({ held }: ShootStatus): string =>
  held.length === 0 ? '–' : held.map((one) => `${shortName(one)} ${one.replicas}`).join(', ');
