/** One of the Secrets of a namespace whose labels say that it has the kubeconfig of the cluster there. */
export interface LabelledSecret {
  readonly name: string;
  /** Microseconds since the epoch. */
  readonly created: number;
  readonly deleting: boolean;
}

export interface ChosenSecret<T> {
  readonly secret: T;
  /** Names of the others that stay. */
  readonly others: readonly string[];
}

const byAge = (a: LabelledSecret, b: LabelledSecret): number => a.created - b.created || (a.name < b.name ? -1 : 1);

/**
 * The Secret of a cluster among those that match: the oldest, of several of one age the first by name, and one that is being deleted only where there is no other.
 * So a newcomer, which may be of another cluster, takes nothing over; all replicas choose the same; and when the oldest goes, the next one is there at once.
 */
export const chooseSecret = <T extends LabelledSecret>(secrets: Iterable<T>): ChosenSecret<T> | undefined => {
  const all = [...secrets];
  const staying = all.filter(({ deleting }) => !deleting).toSorted(byAge);
  const [first, ...others] = staying.length > 0 ? staying : all.toSorted(byAge);
  if (first === undefined) return undefined;
  return { secret: first, others: staying.length > 0 ? others.map(({ name }) => name) : [] };
};

/** In words, for who has to remove the others; undefined where there are none. */
export const describeOthers = (name: string, others: readonly string[]): string | undefined =>
  others.length === 0
    ? undefined
    : `${String(others.length + 1)} Secrets have the labels of clusterSource.selector: the prober uses ${name}, the oldest, and not ${others.join(', ')}`;
