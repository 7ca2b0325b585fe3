/** A Secret whose labels mark it as the one with the kubeconfig of the cluster in its namespace. */
export interface LabelledSecret {
  readonly name: string;
  /** Creation time in microseconds since the epoch. */
  readonly created: number;
  readonly deleting: boolean;
}

export interface ChosenSecret<T> {
  readonly secret: T;
  /** Names of the other Secrets that are not being deleted. */
  readonly others: readonly string[];
}

const byAge = (a: LabelledSecret, b: LabelledSecret): number => a.created - b.created || (a.name < b.name ? -1 : 1);

/**
 * Chooses a cluster's Secret among those that match: the oldest, then the first by name; one that is being deleted only if there is no other. So a new
 * Secret, which may belong to another cluster, does not take over; all replicas choose the same; and when the oldest is deleted, the next is used at once.
 */
export const chooseSecret = <T extends LabelledSecret>(secrets: Iterable<T>): ChosenSecret<T> | undefined => {
  const all = [...secrets];
  const staying = all.filter(({ deleting }) => !deleting).toSorted(byAge);
  const [first, ...others] = staying.length > 0 ? staying : all.toSorted(byAge);
  if (first === undefined) return undefined;
  return { secret: first, others: staying.length > 0 ? others.map(({ name }) => name) : [] };
};

/** Returns a sentence for the operator, who has to remove the others; undefined if there are none. */
export const describeOthers = (name: string, others: readonly string[]): string | undefined =>
  others.length === 0
    ? undefined
    : `${String(others.length + 1)} Secrets have the labels of clusterSource.selector: the prober uses ${name}, the oldest, and not ${others.join(', ')}`;
