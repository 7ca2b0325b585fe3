import type { ProberSettings } from '../../domain/index.ts';
import type { Store } from '../../ports/index.ts';
import { type PathRegistry, createPathRegistry } from './outside-majority.ts';
import { type OutsideMemory, type OutsideSource, factsOf } from './outside-prober.ts';
import type { OutsideReport } from './report-outside.ts';

export interface OutsideSourceDeps {
  readonly settings: ProberSettings;
  /** Kubeconfig texts of the outside paths, by `namespace/name` of their Secret. */
  readonly outsideKubeconfigs?: Store<string | undefined> | undefined;
  readonly report: OutsideReport;
}

/** The outside paths of a seed. */
export interface OutsidePaths {
  readonly registry: PathRegistry;
  /** Absent where none is configured. */
  readonly source?: OutsideSource;
}

/** Goes on from what the probers before remembered, by shoot. */
export const createOutsidePaths = (
  { settings, outsideKubeconfigs: kubeconfigs, report }: OutsideSourceDeps,
  memories: Iterable<readonly [namespace: string, { readonly outside?: OutsideMemory }]>,
): OutsidePaths => {
  const { outsidePath } = settings;
  const known = Array.from(memories).flatMap(([namespace, { outside }]) =>
    outside !== undefined && outside.kubeConfigSecretName === outsidePath?.kubeConfigSecretName
      ? [[namespace, factsOf(outside)] as const]
      : [],
  );
  const registry = createPathRegistry({ initial: known, onChange: (isOurs) => report.pathFaultIsOurs(isOurs) });
  report.pathFaultIsOurs(registry.faultIsOurs());
  if (outsidePath === undefined || kubeconfigs === undefined) return { registry };
  return { registry, source: { settings: outsidePath, kubeconfigs, paths: registry } };
};
