import type { Store } from '../../kubernetes/cache/index.ts';
import { type ExternalProbeRegistry, createExternalProbeRegistry } from '../judge/external-probe-majority.ts';
import { type ExternalProbeMemory, type ExternalProbeSource, factsOf } from './external-prober.ts';
import type { ExternalProbeReport } from '../report/external-probe.ts';
import type { ProberSettings } from '../settings.ts';
import { kubeconfigKeyOf } from '../watches/watch-kubeconfigs.ts';

export interface ExternalProbeSourceDeps {
  readonly settings: ProberSettings;
  /** Kubeconfig texts of the external probes, by `namespace/name` of their Secret. */
  readonly externalKubeconfigs?: Store<string | undefined> | undefined;
  readonly report: ExternalProbeReport;
}

/** The external probes of a seed. */
export interface ExternalProbes {
  readonly registry: ExternalProbeRegistry;
  /** Absent if none is configured. */
  readonly source?: ExternalProbeSource;
}

/** Creates the external probes of a seed. They continue from the memories of the previous probers, by shoot. */
export const createExternalProbes = (
  { settings, externalKubeconfigs: kubeconfigs, report }: ExternalProbeSourceDeps,
  memories: Iterable<readonly [namespace: string, { readonly externalProbe?: ExternalProbeMemory }]>,
): ExternalProbes => {
  const { externalProbe } = settings;
  const known = Array.from(memories).flatMap(([namespace, { externalProbe: memory }]) =>
    memory !== undefined && memory.kubeConfigSecretName === externalProbe?.kubeConfigSecretName
      ? [[namespace, factsOf(memory)] as const]
      : [],
  );
  const registry = createExternalProbeRegistry({
    initial: known,
    onChange: (isOurs) => report.externalFaultIsOurs(isOurs),
  });
  report.externalFaultIsOurs(registry.faultIsOurs());
  if (externalProbe === undefined || kubeconfigs === undefined) return { registry };
  const key = kubeconfigKeyOf(settings, externalProbe.kubeConfigSecretName);
  return { registry, source: { settings: externalProbe, kubeconfigs, key, registry } };
};
