/** Flags of `dwd manifests` that change the objects, and the number of objects that they print for each running component. */
export const manifestVariants = [
  [['--profile=plain'], 10],
  [['--profile=gardener-seed', '--replicas=3'], 9],
  [['--set=policy.beforeWebhooks=true', '--set=networkPolicy.apiServerPorts=all'], 10],
  [
    [
      '--name-prefix=a-prefix-as-long-as-one-is-allowed-to-b-',
      '--image=registry.example:5000/dwd@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      '--set=serviceMonitor.enabled=true',
      '--set=serviceMonitor.labels=prometheus=main',
      '--set=nodeSelector=pool=system',
      '--set=tolerations=[{"key":"infra","operator":"Exists","effect":"NoExecute","tolerationSeconds":30}]',
      '--set=imagePullSecrets=one,two',
      '--set=priorityClassName=system-cluster-critical',
      '--set=networkPolicy.apiServerPorts=443',
      '--set=prober.memoryLimitMiB=1000001',
      '--set=policy.proberActions=Audit,Warn',
      '--set=care.gardenKubeconfigSecret=garden-access',
    ],
    11,
  ],
] as const;
