/** The configuration that Gardener's gardenlet writes: dependency-watchdog's `prober.Config`, marshalled by `sigs.k8s.io/yaml`. */
export const gardenletText = `dependentResourceInfos:
- optional: false
  ref:
    apiVersion: apps/v1
    kind: Deployment
    name: kube-controller-manager
  scaleDown:
    level: 1
  scaleUp:
    level: 0
- optional: false
  ref:
    apiVersion: apps/v1
    kind: Deployment
    name: machine-controller-manager
  scaleDown:
    level: 0
  scaleUp:
    initialDelay: 30s
    level: 1
- optional: true
  ref:
    apiVersion: apps/v1
    kind: Deployment
    name: cluster-autoscaler
  scaleDown:
    level: 0
  scaleUp:
    level: 2
kubeConfigSecretName: shoot-access-dependency-watchdog-probe
probeInterval: 30s
`;

/** A configuration with only the required fields. */
export const minimal = `kubeConfigSecretName: probe
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    scaleUp: {level: 0}
`;
