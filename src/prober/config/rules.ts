import { labelKeyWords, secretNameWords, show } from '../../config/index.ts';
import {
  type ConfigFinding,
  type Fields,
  type Path,
  checkRef,
  fieldsOf,
  itemsOf,
  duplicateRefs,
} from '../../config/rules/index.ts';
import { isObject } from '../../kubernetes/api/decode.ts';
import { isLabelKey } from '../../kubernetes/api/label-selectors.ts';
import { countPlaceholders, isTemplate, withoutPlaceholders } from './ref-template.ts';

const invalid = (path: Path, message: string): ConfigFinding => ({ path, message, severity: 'error' });

const withoutScaleUp = (resources: readonly unknown[]): readonly ConfigFinding[] =>
  resources.flatMap((resource, index) => {
    if (!isObject(resource)) return [];
    const { scaleUp, scaleDown } = fieldsOf(resource);
    if (scaleUp !== undefined) return [];
    const message =
      scaleDown === undefined
        ? 'needs scaleUp, or scaleUp and scaleDown: without them the prober never scales this resource'
        : 'needs scaleUp as well: without it the resource would stay at 0 after a scale-down';
    return [invalid(['dependentResourceInfos', index], message)];
  });

const withoutLevel = (resource: unknown, path: Path): readonly ConfigFinding[] =>
  (['scaleUp', 'scaleDown'] as const).flatMap((direction) => {
    const info = fieldsOf(resource)[direction];
    if (!isObject(info)) return [];
    if (fieldsOf(info).level !== undefined) return [];
    const message = 'is not set and defaults to 0: resources are scaled in ascending order of level';
    return [{ path: [...path, direction, 'level'], message, severity: 'warning' as const }];
  });

const aboutResources = (resources: readonly unknown[]): readonly ConfigFinding[] =>
  resources.flatMap((resource, index) => {
    const path = ['dependentResourceInfos', index];
    return [...checkRef(resource, path), ...withoutLevel(resource, path)];
  });

/** With the same Secret, the external probe would only repeat what every run asks. */
const sameSecret = ({ kubeConfigSecretName, externalProbe }: Fields): readonly string[] => {
  const { kubeConfigSecretName: external } = fieldsOf(externalProbe);
  if (typeof external !== 'string' || external !== kubeConfigSecretName) return [];
  return ['is the same Secret as that of the prober: the external probe needs a kubeconfig with the public address'];
};

const onlyOfSecret: readonly (readonly [field: string, message: string])[] = [
  ['key', 'is valid only with kind secret: the Secrets of Gardener have their kubeconfig under the key kubeconfig'],
  ['selector', 'is valid only with kind secret'],
  ['nodeSelector', 'is valid only with kind secret: the nodes of a shoot that count have a Machine'],
];

const aboutSource = (clusterSource: Fields): readonly ConfigFinding[] => [
  ...['selector', 'nodeSelector'].flatMap((field) =>
    Object.keys(fieldsOf(clusterSource[field]))
      .filter((key) => !isLabelKey(key))
      .map((key) => ({
        ...invalid(['clusterSource', field, key], `must be ${labelKeyWords}, found ${show(key)}`),
        aboutKey: true as const,
      })),
  ),
  ...onlyOfSecret.flatMap(([field, message]) =>
    (clusterSource.kind ?? 'gardener') !== 'gardener' || clusterSource[field] === undefined
      ? []
      : [invalid(['clusterSource', field], message)],
  ),
];

/** Requires `selector` or `kubeConfigSecretName`, not both: either one selects the Secrets with the kubeconfigs. */
const aboutSelector = ({ clusterSource, kubeConfigSecretName }: Fields): readonly ConfigFinding[] => {
  const { selector } = fieldsOf(clusterSource);
  if ((selector === undefined) !== (kubeConfigSecretName === undefined)) return [];
  if (selector === undefined) return [invalid(['kubeConfigSecretName'], `is required: ${secretNameWords}`)];
  const message = 'replaces kubeConfigSecretName: select the Secret by its labels or by its name, not by both';
  return [invalid(['clusterSource', 'selector'], message)];
};

const warnings = (config: Fields): readonly ConfigFinding[] => {
  const warn = (path: Path, message: string): ConfigFinding => ({ path, message, severity: 'warning' });
  return [
    ...('kcmNodeMonitorGraceDuration' in config && config.kcmNodeMonitorGraceDuration !== undefined
      ? []
      : [
          warn(
            ['kcmNodeMonitorGraceDuration'],
            "is not set and defaults to 40s; it must equal kube-controller-manager's --node-monitor-grace-period",
          ),
        ]),
    ...sameSecret(config).map((message) => warn(['externalProbe', 'kubeConfigSecretName'], message)),
  ];
};

/** Applies the rules over several fields of a prober configuration, as far as its shape allows. */
export const proberFindings = (value: unknown): readonly ConfigFinding[] => {
  if (!isObject(value)) return [];
  const config = fieldsOf(value);
  const resources = itemsOf(config.dependentResourceInfos);
  return [
    ...duplicateRefs(resources, 'dependentResourceInfos'),
    ...withoutScaleUp(resources),
    ...aboutResources(resources),
    ...aboutSource(fieldsOf(config.clusterSource)),
    ...aboutSelector(config),
    ...nameFindings(config),
    ...warnings(config),
  ];
};

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
  return problem === undefined ? [] : [invalid(path, problem)];
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
  const message =
    'is the same resource for several clusters: its name or namespace needs {{ namespace }} or {{ cluster }}';
  return [invalid(path, message)];
};

/** Applies the rules for names with placeholders. */
const nameFindings = (config: Fields): readonly ConfigFinding[] => {
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
