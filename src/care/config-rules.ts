import { type ConfigFinding, type Path, aboutRef, fieldsOf, itemsOf, refOf } from '../config/index.ts';
import { refKey } from '../kubernetes/api/resource-ref.ts';

interface Keyed {
  readonly path: Path;
  /** Undefined if the item has no key; then that is the problem to report. */
  readonly key: string | undefined;
}

const keyTwice = (
  items: readonly Keyed[],
  message: (first: number, key: string) => string,
): readonly ConfigFinding[] => {
  const firstByKey = new Map<string, number>();
  return items.flatMap(({ path, key }, index) => {
    if (key === undefined) return [];
    const first = firstByKey.get(key);
    if (first !== undefined) return [{ path, message: message(first, key), severity: 'error' as const }];
    firstByKey.set(key, index);
    return [];
  });
};

const aboutDependants = (dependants: readonly unknown[]): readonly ConfigFinding[] => {
  const keyed = dependants.map((dependant, index) => {
    const ref = refOf(dependant);
    return { path: ['dependants', index, 'ref'], ref, key: ref && refKey(ref) };
  });
  const others = keyed.filter(({ ref }) => ref && (ref.apiVersion !== 'apps/v1' || ref.kind !== 'Deployment'));
  return [
    ...keyTwice(keyed, (first, key) => `is the same resource as in dependants[${first}] (${key}); list each only once`),
    ...dependants.flatMap((dependant, index) => aboutRef(dependant, ['dependants', index])),
    ...others.map(({ path }) => ({
      path,
      message: 'is not looked at: only whether a Deployment of apps/v1 is scaled down is told',
      severity: 'warning' as const,
    })),
  ];
};

const typeTwice = (thresholds: readonly unknown[]): readonly ConfigFinding[] =>
  keyTwice(
    thresholds.map((threshold, index) => {
      const { type } = fieldsOf(threshold);
      return { path: ['conditionThresholds', index, 'type'], key: typeof type === 'string' ? type : undefined };
    }),
    (first, type) => `has a threshold already in conditionThresholds[${first}] (${type}); list each only once`,
  );

/** Rules over several fields of a care configuration, as far as it has the shape to apply them to. */
export const careFindings = (value: unknown): readonly ConfigFinding[] => {
  const { dependants, conditionThresholds } = fieldsOf(value);
  return [...aboutDependants(itemsOf(dependants)), ...typeTwice(itemsOf(conditionThresholds))];
};
