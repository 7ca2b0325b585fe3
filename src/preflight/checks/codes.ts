/**
 * `failed`: a shoot is not protected, or too late. `warning`: it is protected, but not as configured. `unknown`: the check could not be
 * made, which is no success either.
 */
export type FindingSeverity = 'failed' | 'warning' | 'unknown';

interface CodeMeaning {
  readonly severity: FindingSeverity;
  /** Advice in one sentence. */
  readonly todo: string;
}

/** Codes of findings, in the order in which they are printed: the worst first. They are stable: scripts and documents refer to them. */
export const codes = {
  'cluster-not-served': {
    severity: 'failed',
    todo: 'Check that this is a seed of Gardener (--kubeconfig, --context, $KUBECONFIG).',
  },
  'machines-not-served': {
    severity: 'failed',
    todo: 'Install the CustomResourceDefinition of Machine: without it nothing is ever scaled down.',
  },
  'kind-not-served': {
    severity: 'failed',
    todo: 'Correct apiVersion and kind in dependentResourceInfos, or install an API that serves the kind.',
  },
  'kind-not-scalable': {
    severity: 'failed',
    todo: 'Name a namespaced kind with a scale subresource in dependentResourceInfos, or remove the resource.',
  },
  'right-missing': {
    severity: 'failed',
    todo: 'Grant it: the chart renders the roles for this configuration.',
  },
  'cluster-unreadable': {
    severity: 'failed',
    todo: 'Repair the Shoot at the reported path; until then the shoot is not protected.',
  },
  'secret-missing': {
    severity: 'failed',
    todo: 'Check kubeConfigSecretName, and the program that creates the Secret; until then the shoot is not protected.',
  },
  'secret-ambiguous': {
    severity: 'failed',
    todo: 'Keep the labels of clusterSource.selector only on the Secret with the kubeconfig of this cluster.',
  },
  'secret-unusable': {
    severity: 'failed',
    todo: 'Repair the reported field of the kubeconfig; until then the shoot is not protected.',
  },
  'secret-rejected': {
    severity: 'failed',
    todo: 'Renew the credentials in the Secret; until then the shoot is not protected.',
  },
  'dependent-missing': {
    severity: 'failed',
    todo: 'Correct the name, or set optional: true if shoots may be without it.',
  },
  'grace-shorter': {
    severity: 'failed',
    todo: 'Set kcmNodeMonitorGraceDuration to the value of KCM: KCM acts before the prober expects it.',
  },
  'shoot-unreachable': {
    severity: 'failed',
    todo: 'Check that API server, and the network from here to it.',
  },
  'shoot-right-missing': {
    severity: 'failed',
    todo: 'Grant it in the shoot: deploy/shoot-access.yaml has the roles.',
  },
  'too-few-nodes': {
    severity: 'failed',
    todo: 'Mend the nodes that do not count, or give the shoot more; one with a single node cannot be protected.',
  },
  'config-warning': {
    severity: 'warning',
    todo: 'Correct the file; dwd validate finds the same without a cluster.',
  },
  'seed-clock-skew': {
    severity: 'warning',
    todo: 'Set the clock of this machine: ages and times that dwd shows here are wrong by this difference.',
  },
  'no-leader': {
    severity: 'warning',
    todo: 'If a prober is installed, look at its pods, and at the runbook DwdProberAbsent: no shoot is protected. Before an installation this is what a former one left.',
  },
  'several-versions': {
    severity: 'warning',
    todo: 'Let the roll-out finish, or look why it does not: kubectl rollout status.',
  },
  'several-probers': {
    severity: 'warning',
    todo: 'Remove all installations but one: each may restore what another one holds.',
  },
  'external-secret': {
    severity: 'warning',
    todo: 'Check externalProbe.kubeConfigSecretName: without it, leases alone decide in this shoot.',
  },
  'dependent-ignored': {
    severity: 'warning',
    todo: 'Remove the annotation dependency-watchdog.gardener.cloud/ignore-scaling when it is not needed any more.',
  },
  'grace-longer': {
    severity: 'warning',
    todo: 'Set kcmNodeMonitorGraceDuration to the value of KCM: the prober scales down earlier than it needs to.',
  },
  'no-grace-left': {
    severity: 'warning',
    todo: 'Make the grace period longer, or the delays and timeouts of what is scaled down before KCM shorter.',
  },
  'shoot-clock-skew': {
    severity: 'warning',
    todo: 'Set the clocks of the machines that run these API servers (NTP).',
  },
  'seed-unreachable': {
    severity: 'unknown',
    todo: 'Check that this is the right cluster (--kubeconfig, --context, $KUBECONFIG), the network to it, and the credentials.',
  },
  'read-refused': {
    severity: 'unknown',
    todo: 'Get this right: the chart has the roles (operator.enabled).',
  },
  'read-failed': {
    severity: 'unknown',
    todo: 'Run the command again; if this fails again, check the API server.',
  },
  'grace-unknown': {
    severity: 'unknown',
    todo: 'Compare the flag in the Deployment of KCM by hand.',
  },
  'shoots-out-of-reach': {
    severity: 'unknown',
    todo: 'Run the command where the shoots can be reached, such as in a pod of the prober, or skip this check with --shoot-api-servers=false.',
  },
} as const satisfies Readonly<Record<string, CodeMeaning>>;

export type FindingCode = keyof typeof codes;

/** Returns the rank of a code. The worst code has the lowest. */
export const rankOf = (code: FindingCode): number => Object.keys(codes).indexOf(code);
