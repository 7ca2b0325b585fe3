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

const withoutScaleUp = (resources: readonly unknown[]): readonly ConfigFinding[] =>
  resources.flatMap((resource, index) => {
    if (!isObject(resource)) return [];
    const { scaleUp, scaleDown } = fieldsOf(resource);
    if (scaleUp !== undefined) return [];
    const message =
      scaleDown === undefined
        ? 'needs scaleUp, or scaleUp and scaleDown: without them the prober never scales this resource'
        : 'needs scaleUp as well: without it the resource would stay at 0 after a scale-down';
    return [{ path: ['dependentResourceInfos', index], message, severity: 'error' as const }];
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

const keyWithoutSecret = ({ clusterSource }: Fields): readonly ConfigFinding[] => {
  const { kind, key } = fieldsOf(clusterSource);
  if (key === undefined || (kind ?? 'gardener') !== 'gardener') return [];
  const message =
    'is valid only with kind secret: the Secrets of Gardener have their kubeconfig under the key kubeconfig';
  return [{ path: ['clusterSource', 'key'], message, severity: 'error' }];
};

/** Requires `selector` or `kubeConfigSecretName`, not both: either one selects the Secrets with the kubeconfigs. */
const aboutSelector = ({ clusterSource, kubeConfigSecretName }: Fields): readonly ConfigFinding[] => {
  const { kind, selector } = fieldsOf(clusterSource);
  const error = (path: Path, message: string): ConfigFinding => ({ path, message, severity: 'error' });
  const path = ['clusterSource', 'selector'];
  if (selector === undefined) {
    return kubeConfigSecretName === undefined
      ? [error(['kubeConfigSecretName'], `is required: ${secretNameWords}`)]
      : [];
  }
  const keys = Object.keys(fieldsOf(selector)).filter((key) => !isLabelKey(key));
  return [
    ...keys.map((key) => ({
      ...error([...path, key], `must be ${labelKeyWords}, found ${show(key)}`),
      aboutKey: true as const,
    })),
    ...(kind === 'secret' ? [] : [error(path, 'is valid only with kind secret')]),
    ...(kubeConfigSecretName === undefined
      ? []
      : [error(path, 'replaces kubeConfigSecretName: select the Secret by its labels or by its name, not by both')]),
  ];
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
    ...keyWithoutSecret(config),
    ...aboutSelector(config),
    ...nameFindings(config),
    ...warnings(config),
  ];
};

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
