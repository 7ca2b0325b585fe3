import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import { textColumns, wrapped } from '../../src/telemetry/index.ts';
import { ignoreScalingAnnotation } from '../../src/annotations/scaling-annotations.ts';
import { type WorldSource, kubeletsAnnotation } from '../world/index.ts';
import { demoTiming, leaseLimitMs, podHaste, twinName } from './setting.ts';

/** Input of the introduction, which shows how to inspect the demo and how to take part with kubectl. */
export interface About {
  /** Cluster source of the simulated seed. */
  readonly source: WorldSource;
  /** Number of shoots in the seed. */
  readonly shoots: number;
  /** Path of the kubeconfig of the seed. */
  readonly seedKubeconfig: string;
  readonly shootKubeconfigs: readonly string[];
  /** Name of the Cluster or Namespace in the example command. */
  readonly cluster: string;
}

/** Returns the lines of the introduction, not wrapped. A line that users copy is indented. */
const textOf = ({ source, shoots, seedKubeconfig, shootKubeconfigs, cluster }: About): readonly string[] => {
  const { leaseRenewMs, graceMs, machineHealthTimeoutMs } = demoTiming;
  return [
    `A simulated seed with the control planes of ${String(shoots)} shoots, on HTTPS, and the real watchdogs, each in a process of its own.`,
    `The shoot ${twinName} is not protected: its Deployments have the annotation ${ignoreScalingAnnotation}, its pods lack the label gardener.cloud/role that the weeder selects.`,
    `Kubelets renew their leases every ${formatGoDuration(leaseRenewMs)}. The prober counts a lease as expired after ${formatGoDuration(leaseLimitMs)}, KCM gives up its node after ` +
      `${formatGoDuration(graceMs)}, MCM replaces the machine ${formatGoDuration(machineHealthTimeoutMs)} later. Pods live ${String(podHaste)} times as fast as real ones.`,
    `${source === 'gardener' ? '' : 'The seed has no Gardener. '}To watch, and to cut a shoot off:`,
    `  export KUBECONFIG=${seedKubeconfig}`,
    '  kubectl get pods --all-namespaces --watch',
    `  kubectl annotate ${source === 'gardener' ? 'cluster' : 'namespace'} ${cluster} \\`,
    `    ${kubeletsAnnotation}=cut`,
    'Kubeconfigs of the shoots; configurations and logs are beside them until the demo ends:',
    ...shootKubeconfigs.map((path) => `  ${path}`),
  ];
};

/** Returns the introduction in lines of at most 80 columns. A line that users copy is not wrapped, however long it is. */
export const aboutLines = (about: About): readonly string[] =>
  textOf(about).flatMap((text) => (text.startsWith(' ') ? [text] : wrapped(text, textColumns)));
