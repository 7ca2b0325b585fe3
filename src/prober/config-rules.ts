import { type Fields, type Finding, type Path, aboutRef, fieldsOf, itemsOf, refOf } from '../config/index.ts';
import { refKey } from '../kubernetes/api/resource-ref.ts';

const sameRefTwice = (resources: readonly unknown[]): readonly Finding[] => {
  const firstByKey = new Map<string, number>();
  return resources.flatMap((resource, index) => {
    const ref = refOf(resource);
    if (ref === undefined) return [];
    const first = firstByKey.get(refKey(ref));
    if (first === undefined) {
      firstByKey.set(refKey(ref), index);
      return [];
    }
    const message = `is the same resource as in dependentResourceInfos[${first}] (${refKey(ref)}); list each only once`;
    return [{ path: ['dependentResourceInfos', index, 'ref'], message, severity: 'error' as const }];
  });
};

const withoutScaleUp = (resources: readonly unknown[]): readonly Finding[] =>
  resources.flatMap((resource, index) => {
    if (typeof resource !== 'object' || resource === null || Array.isArray(resource)) return [];
    const { scaleUp, scaleDown } = fieldsOf(resource);
    if (scaleUp !== undefined) return [];
    const message =
      scaleDown === undefined
        ? 'needs scaleUp, or scaleUp and scaleDown: without them nothing is ever done to this resource'
        : 'needs scaleUp as well: what is scaled down and never up would stay at 0 for ever';
    return [{ path: ['dependentResourceInfos', index], message, severity: 'error' as const }];
  });

const withoutLevel = (resource: unknown, path: Path): readonly Finding[] =>
  (['scaleUp', 'scaleDown'] as const).flatMap((direction) => {
    const info = fieldsOf(resource)[direction];
    if (typeof info !== 'object' || info === null || Array.isArray(info)) return [];
    if (fieldsOf(info).level !== undefined) return [];
    const message = 'is not set and taken to be 0: resources are scaled in ascending order of level';
    return [{ path: [...path, direction, 'level'], message, severity: 'warning' as const }];
  });

const aboutResources = (resources: readonly unknown[]): readonly Finding[] =>
  resources.flatMap((resource, index) => {
    const path = ['dependentResourceInfos', index];
    return [...aboutRef(resource, path), ...withoutLevel(resource, path)];
  });

/** With it, the path would be whole whenever the API server is up, and nothing would be scaled down any more. */
const sameSecret = ({ kubeConfigSecretName, externalProbe }: Fields): readonly string[] => {
  const { kubeConfigSecretName: outside } = fieldsOf(externalProbe);
  if (typeof outside !== 'string' || outside !== kubeConfigSecretName) return [];
  return ["is the Secret of the prober itself: its kubeconfig must have the public address, not the seed's own"];
};

const warnings = (config: Fields): readonly Finding[] => {
  const warn = (path: Path, message: string): Finding => ({ path, message, severity: 'warning' });
  return [
    ...('kcmNodeMonitorGraceDuration' in config && config.kcmNodeMonitorGraceDuration !== undefined
      ? []
      : [
          warn(
            ['kcmNodeMonitorGraceDuration'],
            "is not set and taken to be 40s; it must equal kube-controller-manager's --node-monitor-grace-period",
          ),
        ]),
    ...sameSecret(config).map((message) => warn(['externalProbe', 'kubeConfigSecretName'], message)),
  ];
};

/** Rules over several fields of a prober configuration, as far as it has the shape to apply them to. */
export const proberFindings = (value: unknown): readonly Finding[] => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const config = fieldsOf(value);
  const resources = itemsOf(config.dependentResourceInfos);
  return [...sameRefTwice(resources), ...withoutScaleUp(resources), ...aboutResources(resources), ...warnings(config)];
};
