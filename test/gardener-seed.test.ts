import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { upstreamConstants } from './reference-objects/fixture.ts';

const apis = 'github.com/gardener/gardener/pkg/apis';
const core = upstreamConstants(`${apis}/core/v1beta1/constants`);
const resources = upstreamConstants(`${apis}/resources/v1alpha1`);

interface SeedValues {
  readonly podLabels: object;
  readonly prober: { readonly podLabels: object };
  readonly care: { readonly podLabels: object };
  readonly deploymentLabels: object;
  readonly deploymentAnnotations: object;
  readonly metrics: { readonly service: { readonly annotations: object } };
  readonly priorityClassName: string;
}

/** The label that NetworkPolicyLabel of pkg/utils/gardener/networkpolicy.go generates. */
const toService = (alias: string, service: string, port: number): string =>
  `${resources.NetworkPolicyLabelKeyPrefix!}to-${core[alias]!}-${core[service]!}-tcp-${String(port)}`;

it("the values for a seed use gardener's own constants for labels and annotations", () => {
  const valuesIn = (name: string): SeedValues =>
    parse(readFileSync(new URL(`../deploy/chart/${name}.yaml`, import.meta.url), 'utf8')) as SeedValues;
  const seed = valuesIn('values-gardener-seed');
  const allowed = (keys: readonly (string | undefined)[]): Readonly<Record<string, string>> =>
    Object.fromEntries(keys.map((key) => [String(key), core.LabelNetworkPolicyAllowed!]));
  const toShoots = allowed([
    core.LabelNetworkPolicyToPublicNetworks,
    core.LabelNetworkPolicyToPrivateNetworks,
    toService('LabelNetworkPolicyIstioIngressNamespaceAlias', 'DefaultSNIIngressServiceName', 9443),
    toService('LabelNetworkPolicyShootNamespaceAlias', 'DeploymentNameKubeAPIServer', 443),
  ]);
  expect(seed.podLabels).toEqual(allowed([core.LabelNetworkPolicyToDNS, core.LabelNetworkPolicyToRuntimeAPIServer]));
  expect([seed.prober.podLabels, seed.care.podLabels]).toEqual([toShoots, toShoots]);
  expect(seed.deploymentLabels).toEqual({
    [resources.HighAvailabilityConfigType!]: resources.HighAvailabilityConfigTypeController!,
  });
  expect(seed.deploymentAnnotations).toEqual({ [resources.HighAvailabilityConfigReplicas!]: '2' });
  const { NetworkPolicyFromPolicyAnnotationPrefix: prefix, NetworkPolicyFromPolicyAnnotationSuffix: suffix } =
    resources;
  for (const { metrics } of [seed, valuesIn('values-gardenlet')]) {
    expect(Object.keys(metrics.service.annotations)).toEqual([
      `${prefix!}${core.LabelNetworkPolicySeedScrapeTargets!}${suffix!}`,
    ]);
  }
  expect(seed.priorityClassName).toBe(core.PriorityClassNameSeedSystem800);
});
