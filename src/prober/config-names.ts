import { type ConfigFinding, type Fields, type Path, fieldsOf, itemsOf } from '../config/rules/index.ts';
import { withoutPlaceholders, placeholdersIn } from './cluster-name.ts';

const error = (path: Path, message: string): readonly ConfigFinding[] => [{ path, message, severity: 'error' }];

const known = '{{ namespace }} and {{ cluster }}';

/** Returns undefined if the placeholders of a name are valid. */
const problemOf = (text: string): string | undefined => {
  if (/[{}]/.test(withoutPlaceholders(text))) {
    return `may contain no placeholders but ${known}, found ${JSON.stringify(text)}`;
  }
  return placeholdersIn(text).length > 1 ? `may contain only one of ${known}, and only once` : undefined;
};

const aboutPlaceholders = (value: unknown, path: Path): readonly ConfigFinding[] => {
  const problem = typeof value === 'string' ? problemOf(value) : undefined;
  return problem === undefined ? [] : error(path, problem);
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

interface Named {
  readonly ref: Fields;
  readonly path: Path;
}

/** Two clusters must not hold the same resource: one would restore it while the other needs it held. */
const aboutOwner = ({ ref, path }: Named, isShared: boolean): readonly ConfigFinding[] => {
  const { name, namespace = '{{ namespace }}' } = ref;
  if (typeof name !== 'string') return [];
  const placeholders = new Set([...placeholdersIn(name), ...placeholdersIn(textOf(namespace))]);
  if (isShared && !placeholders.has('cluster')) {
    return error(path, 'is the same resource for all clusters of a namespace: its name needs {{ cluster }}');
  }
  if (isShared ? placeholders.size === 2 : placeholders.size > 0) return [];
  return error(
    path,
    'is the same resource for several clusters: its name or namespace needs {{ namespace }} or {{ cluster }}',
  );
};

/** Only Cluster API allows placeholders: there the watch selects Secrets by a label, elsewhere by one name. */
const aboutSecret = (name: unknown, path: Path, isShared: boolean): readonly ConfigFinding[] => {
  if (typeof name !== 'string' || problemOf(name) !== undefined) return [];
  const placeholders = placeholdersIn(name);
  if (isShared && !placeholders.includes('cluster')) {
    return error(
      path,
      'is the same Secret for all clusters of a namespace: Cluster API writes {{ cluster }}-kubeconfig',
    );
  }
  return isShared || placeholders.length === 0
    ? []
    : error(path, 'may contain placeholders only with clusterSource.kind cluster-api');
};

/** Applies the rules for names with placeholders. */
export const nameFindings = (config: Fields): readonly ConfigFinding[] => {
  const { clusterSource, kubeConfigSecretName, externalProbe, apiServerRef, dependentResourceInfos } = config;
  const isShared = fieldsOf(clusterSource).kind === 'cluster-api';
  const { kubeConfigSecretName: external } = fieldsOf(externalProbe);
  const secrets: readonly (readonly [unknown, Path])[] = [
    [kubeConfigSecretName, ['kubeConfigSecretName']],
    [external, ['externalProbe', 'kubeConfigSecretName']],
  ];
  const dependents = itemsOf(dependentResourceInfos).map(
    (resource, index): Named => ({
      ref: fieldsOf(fieldsOf(resource).ref),
      path: ['dependentResourceInfos', index, 'ref'],
    }),
  );
  const refs: readonly Named[] = [...dependents, { ref: fieldsOf(apiServerRef), path: ['apiServerRef'] }];
  return [
    ...secrets.flatMap(([name, path]) => [...aboutPlaceholders(name, path), ...aboutSecret(name, path, isShared)]),
    ...refs.flatMap(({ ref, path }) => [
      ...aboutPlaceholders(ref.name, [...path, 'name']),
      ...aboutPlaceholders(ref.namespace, [...path, 'namespace']),
    ]),
    ...dependents.flatMap((named) => aboutOwner(named, isShared)),
  ];
};
