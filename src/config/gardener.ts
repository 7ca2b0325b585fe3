/**
 * Configurations as gardenlet generates them for a seed (NewDependencyWatchdogProberConfiguration and ...WeederConfiguration in
 * https://github.com/gardener/gardener/tree/master/pkg/component), but for two fields: gardenlet probes every 30 s, here it is the default, and
 * it leaves the grace period to its default, which is written down here.
 */
export const gardenerConfigs = {
  prober: `kubeConfigSecretName: shoot-access-dependency-watchdog-probe
kcmNodeMonitorGraceDuration: 40s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    scaleUp: {level: 0}
    scaleDown: {level: 1}
  - ref: {apiVersion: apps/v1, kind: Deployment, name: machine-controller-manager}
    scaleUp: {level: 1, initialDelay: 30s}
    scaleDown: {level: 0}
  - ref: {apiVersion: apps/v1, kind: Deployment, name: cluster-autoscaler}
    optional: true
    scaleUp: {level: 2}
    scaleDown: {level: 0}
`,
  weeder: `watchDuration: 5m0s
servicesAndDependantSelectors:
  etcd-main-client:
    podSelectors:
      - matchExpressions:
          - {key: gardener.cloud/role, operator: In, values: [controlplane]}
          - {key: role, operator: In, values: [apiserver]}
  kube-apiserver:
    podSelectors:
      - matchExpressions:
          - {key: gardener.cloud/role, operator: In, values: [controlplane]}
          - {key: role, operator: NotIn, values: [main, apiserver]}
`,
  // gardenlet has none: it does this itself.
  care: `syncPeriod: 1m0s
`,
} as const;
