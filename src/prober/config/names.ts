import { type ConfigFinding, type Fields, type Path, fieldsOf, itemsOf } from '../../config/rules/index.ts';
import { countPlaceholders, isTemplate, withoutPlaceholders } from './ref-template.ts';

const error = (path: Path, message: string): readonly ConfigFinding[] => [{ path, message, severity: 'error' }];

const known = '{{ namespace }} and {{ cluster }}';

/** Returns undefined if the placeholders of a name are valid. */
const problemOf = (text: string): string | undefined => {
  if (/[{}]/.test(withoutPlaceholders(text))) {
    return `may contain no placeholders but ${known}, found ${JSON.stringify(text)}`;
  }
  return countPlaceholders(text) > 1 ? `may contain only one of ${known}, and only once` : undefined;
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
const aboutOwner = ({ ref, path }: Named): readonly ConfigFinding[] => {
  const { name, namespace } = ref;
  if (typeof name !== 'string' || namespace === undefined || isTemplate(name) || isTemplate(textOf(namespace))) {
    return [];
  }
  return error(
    path,
    'is the same resource for several clusters: its name or namespace needs {{ namespace }} or {{ cluster }}',
  );
};

/** Applies the rules for names with placeholders. */
export const nameFindings = (config: Fields): readonly ConfigFinding[] => {
  const { dependentResourceInfos } = config;
  const dependents = itemsOf(dependentResourceInfos).map(
    (resource, index): Named => ({
      ref: fieldsOf(fieldsOf(resource).ref),
      path: ['dependentResourceInfos', index, 'ref'],
    }),
  );
  return [
    ...dependents.flatMap(({ ref, path }) => [
      ...aboutPlaceholders(ref.name, [...path, 'name']),
      ...aboutPlaceholders(ref.namespace, [...path, 'namespace']),
    ]),
    ...dependents.flatMap(aboutOwner),
  ];
};
