import { formatGoDuration } from '../../../src/kubernetes/api/duration.ts';
import { ignoreScalingAnnotation } from '../../../src/kubernetes/api/scalable.ts';
import { kubeletsAnnotation } from '../../world/index.ts';
import { wrap } from '../line.ts';
import type { Backdrop } from './backdrop.ts';
import { type Row, segment } from './row.ts';

const chunks = (text: string, columns: number): readonly string[] =>
  Array.from({ length: Math.ceil(text.length / columns) }, (_, index) =>
    text.slice(index * columns, (index + 1) * columns),
  );

/** What is behind the screen, and where it can be looked at. Paths that are too long go on in the next row. */
export const helpRows = (backdrop: Backdrop, columns: number): readonly Row[] => {
  const { limitMs, graceMs, seedKubeconfig, shootKubeconfigs, careConfig, logs } = backdrop;
  const words = (text: string): readonly Row[] => wrap(text, columns).map((row) => [segment(row)]);
  const paths = (list: readonly string[]): readonly Row[] =>
    list.flatMap((path) => chunks(`  ${path}`, columns)).map((row) => [segment(row, 'act')]);
  return [
    ...words(
      'A simulated seed with the control planes of four shoots, on HTTPS, and the real watchdogs. The screen shows what its API ' +
        "servers say; verdicts are from the prober's log.",
    ),
    ...words(
      `Nobody protects the twin: its Deployments carry ${ignoreScalingAnnotation}, its pods lack the label gardener.cloud/role that the ` +
        'weeder asks for. It follows: what you do to another shoot is done to it too.',
    ),
    ...words(
      `Kubelets renew their leases every 5s. A lease expires to the prober after ${formatGoDuration(limitMs)}, KCM gives up its node after ` +
        `${formatGoDuration(graceMs)} (the bars), MCM replaces the machine 8s later. Pods live 20 times as fast as real ones.`,
    ),
    [segment(`Kubeconfigs of the seed and of the shoots${logs.length === 0 ? '' : ', and logs'}:`)],
    ...paths([seedKubeconfig, ...shootKubeconfigs, ...logs]),
    [segment('How care finds the shoots, with KUBECONFIG set to the first of those paths:')],
    ...paths([`bin/dwd care --once --config-file=${careConfig}`]),
    ...words(`kubectl annotate cluster shoot--sim--alpha ${kubeletsAnnotation}=cut is the key c.`),
  ];
};
