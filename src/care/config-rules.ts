import {
  type ConfigFinding,
  type Path,
  checkRef,
  fieldsOf,
  itemsOf,
  refOf,
  repeatedAmong,
  duplicateRefs,
} from '../config/rules/index.ts';

const aboutOther = (dependant: unknown, path: Path): readonly ConfigFinding[] => {
  const ref = refOf(dependant);
  if (ref === undefined || (ref.apiVersion === 'apps/v1' && ref.kind === 'Deployment')) return [];
  const message = 'is not checked: care reports only Deployments of apps/v1 that are scaled down';
  return [{ path: [...path, 'ref'], message, severity: 'warning' }];
};

const aboutDependants = (dependants: readonly unknown[]): readonly ConfigFinding[] => [
  ...duplicateRefs(dependants, 'dependants'),
  ...dependants.flatMap((dependant, index) => checkRef(dependant, ['dependants', index])),
  ...dependants.flatMap((dependant, index) => aboutOther(dependant, ['dependants', index])),
];

const typeTwice = (thresholds: readonly unknown[]): readonly ConfigFinding[] => {
  const types = thresholds.map((threshold) => fieldsOf(threshold).type);
  return repeatedAmong(types.map((type) => (typeof type === 'string' ? type : undefined))).map(
    ({ index, first, key }) => ({
      path: ['conditionThresholds', index, 'type'],
      message: `has a threshold already in conditionThresholds[${first}] (${key}); list each only once`,
      severity: 'error',
    }),
  );
};

/** Applies the rules between fields of a care configuration. Parts of a wrong shape are skipped. */
export const careFindings = (value: unknown): readonly ConfigFinding[] => {
  const { dependants, conditionThresholds } = fieldsOf(value);
  return [...aboutDependants(itemsOf(dependants)), ...typeTwice(itemsOf(conditionThresholds))];
};
