import { formatGoDuration } from '../../domain/index.ts';
import { defaultTiming, kubeletsAnnotation } from '../../sim/index.ts';
import { width, wrap } from './line.ts';
import { demoPlan, demoProberConfig, demoShoots, demoTiming } from './setting.ts';

export interface IntroductionInit {
  /** Directory of the kubeconfigs. */
  readonly directory: string;
  readonly seedKubeconfig: string;
  /** Absent: without the prober. */
  readonly proberLog?: string;
  /** Of the Cluster that is cut off. */
  readonly victim: string;
}

const indented = (text: string): readonly string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`);

const paragraph = (text: string): readonly string[] => [...wrap(text, width), ''];

const durations: readonly (readonly [what: string, key: keyof typeof demoTiming])[] = [
  ['a kubelet renews its lease every', 'leaseRenewMs'],
  ['KCM gives up a node after', 'graceMs'],
  ['MCM replaces its machine after another', 'machineHealthTimeoutMs'],
];

/** Without Go's zeroes: `10m`, not `10m0s`. */
const shortDuration = (ms: number): string => formatGoDuration(ms).replace(/m0s$/, 'm');

const timesLine = (): string => {
  const parts = durations.map(
    ([what, key]) => `${what} ${shortDuration(demoTiming[key])} (really ${shortDuration(defaultTiming[key])})`,
  );
  return `Times are shortened: ${parts.join(', ')}.`;
};

/** What is going to happen, told before it does. */
export const introduce = ({ directory, seedKubeconfig, proberLog, victim }: IntroductionInit): readonly string[] => {
  const names = demoShoots.map(({ name }) => name);
  const { nodes = 0 } = demoShoots[0] ?? {};
  const prober =
    proberLog === undefined
      ? paragraph('Nobody watches over it: --without-prober shows what happens then.')
      : [
          ...paragraph(
            'The real prober watches over it: "dwd prober", in a process of its own, with this configuration:',
          ),
          ...indented(demoProberConfig),
          '',
          ...paragraph(
            `To the prober a lease is expired after ${formatGoDuration(demoPlan(true).limitMs)}, three quarters of KCM's time. ` +
              'On a Deployment that it scales down it leaves two annotations, dependency-watchdog.gardener.cloud/replicas ' +
              'and dependency-watchdog.gardener.cloud/meltdown-protection-active.',
          ),
          'Its log:',
          ...indented(proberLog),
          '',
        ];
  return [
    ...paragraph(
      `A simulated seed serves the control planes of the shoots ${names.join(', ')}, each with ${String(nodes)} nodes ` +
        'and API servers that speak HTTPS. Kubelets, the Deployment controller, KCM (kube-controller-manager) and MCM ' +
        '(machine-controller-manager) are simulated as well; they live while their Deployments have ready pods.',
    ),
    ...paragraph(timesLine()),
    ...prober,
    ...paragraph(
      `The kubelets of ${names[0] ?? ''} will be cut off by an annotation on its Cluster. Everything told below is what the ` +
        'API servers show. To watch by yourself, or to do it yourself, while this runs:',
    ),
    `  export KUBECONFIG=${seedKubeconfig}`,
    '  kubectl get deployments --all-namespaces --watch',
    `  kubectl annotate cluster ${victim} \\`,
    `    ${kubeletsAnnotation}=cut`,
    `  ls ${directory}`,
    '',
  ];
};
