import type { HeldUnprobed, ProtectionState, ProbedShoot } from '../../prober/status/schema.ts';

interface StateLook {
  /** Sign in a cell of the grid, so that states do not differ by colour alone. */
  readonly sign: string;
  readonly about: string;
}

/** States in the order of `dwd status`, worst first. */
export const states: Readonly<Record<ProtectionState, StateLook>> = {
  protected: { sign: 'P', about: 'controllers are scaled down, so that healthy nodes are not replaced' },
  landing: { sign: 'L', about: 'the outage is over; the prober waits for late kubelets' },
  restoring: { sign: 'R', about: 'held resources are scaled up' },
  confirming: { sign: 'C', about: 'a scale-down waits for a second observation' },
  unreachable: { sign: '!', about: 'the last probe failed' },
  unknown: { sign: '?', about: 'not probed yet' },
  flapping: { sign: 'F', about: 'healthy, and an outage came soon after a restoration' },
  paused: { sign: '‖', about: 'verdicts continue, but nothing is scaled down' },
  healthy: { sign: '', about: 'enough leases are renewed' },
};

export const stateNames = Object.keys(states) as readonly ProtectionState[];

const rank = new Map(stateNames.map((name, index) => [name, index]));

export const titleOf = ({ project, name, namespace }: ProbedShoot): string =>
  project ? `${project}/${name}` : name || namespace;

/**
 * Reason why a shoot is less protected than its state suggests. `unmet`: an outage goes on and not all dependent resources are held. `ignoring`:
 * `ignore-scaling` excludes a resource from scale-downs.
 */
export type Exposure = 'unmet' | 'ignoring';

export const exposureOf = ({ unmet = false, ignored = [] }: ProbedShoot): Exposure | undefined => {
  if (unmet) return 'unmet';
  return ignored.length > 0 ? 'ignoring' : undefined;
};

/** Describes the exposure of a shoot; empty without one. */
export const exposureWords = ({ unmet = false, ignored = [] }: ProbedShoot): string =>
  [
    ...(unmet ? ['OUTAGE WITHOUT FULL PROTECTION: nodes are lost'] : []),
    ...(ignored.length > 0 ? [`NOT PROTECTED: ignore-scaling on ${ignored.map(shortName).join(', ')}`] : []),
  ].join('; ');

const mostUnprobedNamed = 3;

/** Describes shoots that are held and not probed: one sentence for each of the first three, and the number of the others. */
export const unprobedWords = (found: readonly HeldUnprobed[] = []): readonly string[] => {
  const named = found.slice(0, mostUnprobedNamed).map(({ namespace, reason, held }) => {
    const names = held.map(shortName).join(', ');
    return `${namespace} is not probed (${reason}), so no prober restores its held resources: ${names}. To restore them: dwd release --shoot ${namespace}`;
  });
  const more = found.length - named.length;
  return more > 0
    ? [...named, `${String(more)} more shoots with held resources are not probed: dwd status -o json lists them.`]
    : named;
};

/** Returns true if the shoot is healthy and not exposed, so that it needs no attention. */
export const isPlainHealthy = (shoot: ProbedShoot): boolean =>
  shoot.state === 'healthy' && exposureOf(shoot) === undefined;

/** Ranks like `dwd status`: an outage without full protection is worse than any state. */
const exposureRank = (shoot: ProbedShoot): number => {
  if (shoot.unmet === true) return 0;
  if (shoot.state !== 'healthy') return 1;
  return isPlainHealthy(shoot) ? 3 : 2;
};

/** Sorts shoots by state, worst first, then by name. */
export const sorted = (shoots: readonly ProbedShoot[]): readonly ProbedShoot[] =>
  shoots.toSorted(
    (a, b) =>
      exposureRank(a) - exposureRank(b) ||
      (rank.get(a.state) ?? 0) - (rank.get(b.state) ?? 0) ||
      titleOf(a).localeCompare(titleOf(b), 'en'),
  );

export interface Filter {
  readonly text: string;
  /** States to show; all if empty. */
  readonly states: ReadonlySet<ProtectionState>;
}

/** Returns true if the filter's text occurs in the shoot's title, namespace, state, reason, exposure or the names of held resources. */
export const matches = (shoot: ProbedShoot, filter: Filter): boolean => {
  if (filter.states.size > 0 && !filter.states.has(shoot.state)) return false;
  const wanted = filter.text.trim().toLowerCase();
  if (wanted === '') return true;
  const held = shoot.held.map(({ name }) => name);
  return [titleOf(shoot), shoot.namespace, shoot.state, shoot.reason, exposureWords(shoot), ...held].some((text) =>
    text.toLowerCase().includes(wanted),
  );
};

export const countByState = (shoots: readonly ProbedShoot[]): ReadonlyMap<ProtectionState, number> => {
  const counts = new Map<ProtectionState, number>();
  for (const { state } of shoots) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
};

export const leasesOf = ({ expired, candidates }: ProbedShoot): string => `${expired}/${candidates} expired`;

/** Short names, the same as in `dwd status`. */
const shortNames: Readonly<Record<string, string>> = {
  'kube-controller-manager': 'kcm',
  'machine-controller-manager': 'mcm',
  'cluster-autoscaler': 'ca',
};

const shortName = ({ name }: { readonly name: string }): string => shortNames[name] ?? name;

/** Lists held resources, each with the replicas to restore. */
export const heldOf = ({ held }: ProbedShoot): string =>
  held.length === 0 ? '–' : held.map((one) => `${shortName(one)} ${one.replicas}`).join(', ');
