import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import { ignoreScalingAnnotation } from '../../src/kubernetes/api/scalable.ts';
import { defaultTiming, etcdAnnotation, kubeletsAnnotation } from '../world/index.ts';
import { demoProberConfig, demoWeederConfig } from './configs.ts';
import { width, wrap } from './line.ts';
import { demoCrashPlan, demoPlan, demoShoots, demoTiming } from './setting.ts';

export interface IntroductionInit {
  /** Paths. */
  readonly seedKubeconfig: string;
  readonly shootKubeconfigs: readonly string[];
  /** Name of the Cluster of a shoot to which nothing happens by itself. */
  readonly quietCluster: string;
  /** Path of the configuration of care. */
  readonly careConfig: string;
  /** Where they log; absent: it does not run. */
  readonly proberLog?: string;
  readonly weederLog?: string;
}

const indented = (text: string): readonly string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`);

const paragraph = (text: string): readonly string[] => [...wrap(text, width), ''];

/** Without Go's zeroes: `10m`, not `10m0s`. */
const shortDuration = (ms: number): string => formatGoDuration(ms).replace(/m0s$/, 'm');

const timing = demoTiming('script');

const compared = (what: string, key: keyof typeof timing): string =>
  `${what} ${shortDuration(timing[key])} (really ${shortDuration(defaultTiming[key])})`;

const timesLines = (): readonly string[] => {
  const parts = [
    compared('a kubelet renews its lease every', 'leaseRenewMs'),
    compared('KCM gives up a node after', 'graceMs'),
    compared('MCM replaces its machine after another', 'machineHealthTimeoutMs'),
  ];
  const pods =
    `Pods live ${String(demoCrashPlan(true).haste)} times as fast: a container that crashes again and again waits ` +
    `${compared('at first', 'crashBackOffMs')} and ${compared('at last', 'longestCrashBackOffMs')} for its next start.`;
  return paragraph(`Times are shortened: ${parts.join(', ')}. ${pods}`);
};

const settingLines = (): readonly string[] => {
  const { victim, others } = demoPlan(true);
  const { victim: crashing, twin } = demoCrashPlan(true);
  const { nodes = 0 } = demoShoots[0] ?? {};
  return [
    ...paragraph(
      `A simulated seed serves the control planes of the shoots ${[victim, crashing, ...others, twin].join(', ')}, each with ` +
        `${String(nodes)} nodes and API servers that speak HTTPS. Kubelets, pods with their back-off, the controllers of ` +
        'Deployments and EndpointSlices, KCM (kube-controller-manager) and MCM (machine-controller-manager) are simulated ' +
        'as well; they live while their Deployments have ready pods.',
    ),
    ...paragraph(
      `Nobody protects ${twin}: its Deployments carry ${ignoreScalingAnnotation}, and its pods lack the label ` +
        'gardener.cloud/role that the weeder asks for.',
    ),
  ];
};

const proberLines = (log: string | undefined): readonly string[] => {
  if (log === undefined) return paragraph('No prober watches over it: --without-prober shows what happens then.');
  return [
    ...paragraph('The real prober watches over it: "dwd prober", in a process of its own, with this configuration:'),
    ...indented(demoProberConfig('script')),
    '',
    ...paragraph(
      `To the prober a lease is expired after ${formatGoDuration(demoPlan(true).limitMs)}, three quarters of KCM's time. ` +
        'On a Deployment that it scales down it leaves two annotations, dependency-watchdog.gardener.cloud/replicas ' +
        'and dependency-watchdog.gardener.cloud/meltdown-protection-active.',
    ),
    'Its log, while this runs:',
    ...indented(log),
    '',
  ];
};

const weederLines = (log: string | undefined): readonly string[] => {
  if (log === undefined) return paragraph('No weeder watches over it: --without-weeder shows what happens then.');
  return [
    ...paragraph('So does the real weeder, "dwd weeder", in another process, as Gardener configures it:'),
    ...indented(demoWeederConfig),
    '',
    'Its log, while this runs:',
    ...indented(log),
    '',
  ];
};

/** What is going to happen, told before it does. */
export const introduce = (init: IntroductionInit): readonly string[] => {
  const { seedKubeconfig, shootKubeconfigs, quietCluster, careConfig, proberLog, weederLog } = init;
  const { victim } = demoPlan(true);
  const { victim: crashing, twin } = demoCrashPlan(true);
  return [
    ...settingLines(),
    ...timesLines(),
    ...proberLines(proberLog),
    ...weederLines(weederLog),
    ...paragraph(
      `The kubelets of ${victim} will be cut off, and etcd of ${crashing} and ${twin} will fail, by annotations on their ` +
        'Clusters. Everything told below is what the API servers show. To watch by yourself, or to do it yourself, while ' +
        'this runs:',
    ),
    `  export KUBECONFIG=${seedKubeconfig}`,
    '  kubectl get pods --all-namespaces --watch',
    `  kubectl annotate cluster ${quietCluster} \\`,
    `    ${kubeletsAnnotation}=cut`,
    `  kubectl annotate cluster ${quietCluster} \\`,
    `    ${etcdAnnotation}=down`,
    '',
    'And how care finds the shoots, at any time:',
    `  bin/dwd care --once --config-file=${careConfig}`,
    '',
    'Kubeconfigs of the shoots:',
    ...shootKubeconfigs.map((path) => `  ${path}`),
    '',
  ];
};
