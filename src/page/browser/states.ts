import type { HeldUnprobed, ProtectionState, ProbedShoot } from '../../prober/status/schema.ts';

interface StateLook {
  /** In a cell of the grid, so that colour is not all that tells. */
  readonly sign: string;
  readonly about: string;
}

/** In the order of `dwd status`, the worst first. */
export const states: Readonly<Record<ProtectionState, StateLook>> = {
  protected: { sign: 'P', about: 'controllers are scaled down, so that nodes which live are not replaced' },
  landing: { sign: 'L', about: 'the outage is over; late kubelets are waited for' },
  restoring: { sign: 'R', about: 'what was held is scaled up' },
  confirming: { sign: 'C', about: 'a scale-down waits for a second observation' },
  unreachable: { sign: '!', about: 'the last probe failed' },
  unknown: { sign: '?', about: 'not judged yet' },
  flapping: { sign: 'F', about: 'healthy, and an outage came soon after a restoration' },
  paused: { sign: '‖', about: 'verdicts go on, and nothing is scaled down' },
  healthy: { sign: '', about: 'enough leases are renewed' },
};

export const stateNames = Object.keys(states) as readonly ProtectionState[];

const rank = new Map(stateNames.map((name, index) => [name, index]));

export const titleOf = ({ project, name, namespace }: ProbedShoot): string =>
  project ? `${project}/${name}` : name || namespace;

/** Less protected than its state says. `unmet`: an outage goes on, and nothing is held, or not all. `ignoring`: `ignore-scaling` keeps something from being scaled down. */
export type Exposure = 'unmet' | 'ignoring';

export const exposureOf = ({ unmet = false, ignored = [] }: ProbedShoot): Exposure | undefined => {
  if (unmet) return 'unmet';
  return ignored.length > 0 ? 'ignoring' : undefined;
};

/** In words; empty where it is as its state says. */
export const exposureWords = ({ unmet = false, ignored = [] }: ProbedShoot): string =>
  [
    ...(unmet ? ['OUTAGE NOT MET: nodes are lost'] : []),
    ...(ignored.length > 0 ? [`NOT PROTECTED: ignore-scaling on ${ignored.map(shortName).join(', ')}`] : []),
  ].join('; ');

const mostUnprobedNamed = 3;

/** Of shoots that are held and not probed, a sentence each; beyond three only how many. */
export const unprobedWords = (found: readonly HeldUnprobed[] = []): readonly string[] => {
  const named = found.slice(0, mostUnprobedNamed).map(({ namespace, reason, held }) => {
    const names = held.map(shortName).join(', ');
    return `${namespace} is not probed (${reason}), and nothing restores by itself what is held: ${names}. Release it: dwd release --shoot ${namespace}`;
  });
  const more = found.length - named.length;
  return more > 0 ? [...named, `${String(more)} more shoots are held and not probed: dwd status lists them.`] : named;
};

/** Healthy in every way: nobody needs to look at it. */
export const isPlainHealthy = (shoot: ProbedShoot): boolean =>
  shoot.state === 'healthy' && exposureOf(shoot) === undefined;

/** As in `dwd status`: an outage that nothing meets is worse than any state. */
const exposureRank = (shoot: ProbedShoot): number => {
  if (shoot.unmet === true) return 0;
  if (shoot.state !== 'healthy') return 1;
  return isPlainHealthy(shoot) ? 3 : 2;
};

/** Worst first, those of one state by name. */
export const sorted = (shoots: readonly ProbedShoot[]): readonly ProbedShoot[] =>
  shoots.toSorted(
    (a, b) =>
      exposureRank(a) - exposureRank(b) ||
      (rank.get(a.state) ?? 0) - (rank.get(b.state) ?? 0) ||
      titleOf(a).localeCompare(titleOf(b), 'en'),
  );

export interface Filter {
  readonly text: string;
  /** Empty: all. */
  readonly states: ReadonlySet<ProtectionState>;
}

/** `text` is looked for in name, namespace, reason, what is held and what is not protected. */
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

/** As in `dwd status`. */
const shortNames: Readonly<Record<string, string>> = {
  'kube-controller-manager': 'kcm',
  'machine-controller-manager': 'mcm',
  'cluster-autoscaler': 'ca',
};

const shortName = ({ name }: { readonly name: string }): string => shortNames[name] ?? name;

/** What is held, with the replicas that it gets back, or the last word of the annotation that it has meanwhile. */
export const heldOf = ({ held }: ProbedShoot): string =>
  held.length === 0
    ? '–'
    : held.map((one) => `${shortName(one)} ${one.annotation?.split('/').pop() ?? one.replicas}`).join(', ');
