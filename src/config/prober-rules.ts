import { type ResourceRef, refKey } from '../domain/index.ts';
import type { Path, Severity } from './problem.ts';

/** What no single field can say about itself. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  readonly severity: Severity;
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Undefined while a part is missing or no text: then that is the problem to tell. */
const refOf = (resource: unknown): ResourceRef | undefined => {
  const { apiVersion, kind, name } = fieldsOf(fieldsOf(resource).ref);
  const complete = typeof apiVersion === 'string' && typeof kind === 'string' && typeof name === 'string';
  return complete ? { apiVersion, kind, name } : undefined;
};

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
    ...(config.externalProbe === undefined
      ? []
      : [warn(['externalProbe'], 'is not supported by this version yet and has no effect')]),
  ];
};

/** Rules over several fields of a prober configuration, as far as it has the shape to apply them to. */
export const crossFieldFindings = (value: unknown): readonly Finding[] => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const config = fieldsOf(value);
  const resources = itemsOf(config.dependentResourceInfos);
  return [...sameRefTwice(resources), ...withoutScaleUp(resources), ...warnings(config)];
};
