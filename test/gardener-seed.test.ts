import { expect, it } from 'vitest';
import {
  gardenNamespace,
  seedDeploymentAnnotations,
  seedDeploymentLabels,
  seedPodLabels,
  seedPriorityClass,
  seedServiceAnnotations,
} from '../src/cli/manifests/gardener-seed.ts';
import { upstreamConstants } from './reference-objects/fixture.ts';

const apis = 'github.com/gardener/gardener/pkg/apis';
const core = upstreamConstants(`${apis}/core/v1beta1/constants`);
const resources = upstreamConstants(`${apis}/resources/v1alpha1`);

/** The label that NetworkPolicyLabel of pkg/utils/gardener/networkpolicy.go generates. */
const toService = (alias: string, service: string, port: number): string =>
  `${resources.NetworkPolicyLabelKeyPrefix!}to-${core[alias]!}-${core[service]!}-tcp-${String(port)}`;

it("uses gardener's own constants for labels and annotations of a seed", () => {
  const always = [core.LabelNetworkPolicyToDNS!, core.LabelNetworkPolicyToRuntimeAPIServer!];
  const allowed = (keys: readonly string[]): object =>
    Object.fromEntries(keys.map((key) => [key, core.LabelNetworkPolicyAllowed!]));
  expect(seedPodLabels('weeder')).toEqual(allowed(always));
  expect(seedPodLabels('prober')).toEqual(
    allowed([
      ...always,
      core.LabelNetworkPolicyToPublicNetworks!,
      core.LabelNetworkPolicyToPrivateNetworks!,
      toService('LabelNetworkPolicyIstioIngressNamespaceAlias', 'DefaultSNIIngressServiceName', 9443),
      toService('LabelNetworkPolicyShootNamespaceAlias', 'DeploymentNameKubeAPIServer', 443),
    ]),
  );
  expect(seedDeploymentLabels).toEqual({
    [resources.HighAvailabilityConfigType!]: resources.HighAvailabilityConfigTypeController!,
  });
  expect(seedDeploymentAnnotations(3)).toEqual({ [resources.HighAvailabilityConfigReplicas!]: '3' });
  const { NetworkPolicyFromPolicyAnnotationPrefix: prefix, NetworkPolicyFromPolicyAnnotationSuffix: suffix } =
    resources;
  expect(Object.keys(seedServiceAnnotations)).toEqual([
    `${prefix!}${core.LabelNetworkPolicySeedScrapeTargets!}${suffix!}`,
  ]);
  expect([seedPriorityClass, gardenNamespace]).toEqual([core.PriorityClassNameSeedSystem800, core.GardenNamespace]);
});
