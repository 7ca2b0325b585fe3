import { formatGoDuration } from '../../../src/kubernetes/api/duration.ts';
import { line, seconds } from '../line.ts';
import { type PodSnapshot, type ShootSnapshot, type Snapshot, shootIn } from '../snapshot.ts';
import type { Remarks } from '../story.ts';
import {
  type CrashEvidence,
  type CrashPhase,
  type CrashPlan,
  type Evidence,
  atRealSpeed,
  recoveryMs,
} from './evidence.ts';

export interface Moment {
  readonly phase: CrashPhase;
  /** Milliseconds since the phase began. */
  readonly elapsed: number;
  readonly evidence: Evidence;
  readonly snapshot: Snapshot;
  readonly plan: CrashPlan;
}

type Waiting = PodSnapshot & { readonly backOff: NonNullable<PodSnapshot['backOff']> };

/** Pods in CrashLoopBackOff, in the order in which their Deployments depend on each other. */
export const waitingIn = ({ pods }: ShootSnapshot, { chain }: CrashPlan): readonly Waiting[] =>
  pods
    .filter((pod): pod is Waiting => pod.backOff !== undefined)
    .sort((a, b) => chain.indexOf(a.component) - chain.indexOf(b.component));

const readyOf = ({ deployments }: ShootSnapshot, component: string): number =>
  deployments.find(({ name }) => name === component)?.readyReplicas ?? 0;

const outageRemarks = ({ snapshot, plan }: Moment): Remarks => {
  const { victim, chain } = plan;
  const [apiserver, first = '', ...rest] = chain;
  const shoot = shootIn(snapshot, victim);
  const waiting = waitingIn(shoot, plan);
  const server = waiting.find(({ component }) => component === apiserver);
  const longest = Math.max(0, ...waiting.filter((pod) => pod !== server).map(({ backOff }) => backOff.ms));
  const isDown = readyOf(shoot, apiserver) === 0;
  const areDown = isDown && [first, ...rest].every((name) => readyOf(shoot, name) === 0);
  const others = longest === 0 ? '' : `, others ${formatGoDuration(longest)}`;
  const ms = server?.backOff.ms ?? 0;
  return [
    ['apiserver', isDown, () => line(`${apiserver} is down: it exits when it finds no etcd`, victim)],
    ['others', areDown, () => line(`${first} and ${String(rest.length)} more are down: they need it`, victim)],
    [
      `back-off ${String(ms)}`,
      ms >= 1_000,
      () => {
        const restarts = String(server?.restarts ?? 0);
        return line(`crash loop: ${apiserver} waits ${formatGoDuration(ms)} (${restarts} restarts)${others}`, victim);
      },
    ],
  ];
};

const wholeLine = (name: string, evidence: CrashEvidence, plan: CrashPlan) => {
  const ms = recoveryMs(evidence) ?? 0;
  const text = `all ${String(plan.chain.length)} are ready, ${seconds(ms)} after etcd (really ${atRealSpeed(ms, plan)})`;
  return line(text, name, name === plan.victim ? 'good' : 'plain');
};

const waitLine = (twin: ShootSnapshot, { snapshot, plan }: Moment) => {
  const [first] = waitingIn(twin, plan);
  if (first === undefined) return line('its pods are still on their way', twin.name);
  const { component, backOff } = first;
  const rest = seconds(Math.max(0, backOff.endsAt - snapshot.wall));
  return line(`nobody deletes its pods: ${component} waits ${rest} more of ${formatGoDuration(backOff.ms)}`, twin.name);
};

const recoveryRemarks = (moment: Moment): Remarks => {
  const { evidence, snapshot, plan } = moment;
  const { victim, twin } = evidence;
  const isVictimWhole = victim.wholeAt !== undefined;
  const isTwinWhole = twin.wholeAt !== undefined;
  return [
    ['etcd', victim.etcdReadyAt !== undefined, () => line('etcd is ready again', plan.victim)],
    ...[...victim.weeded].map(
      (pod) => [`weeded ${pod}`, true, () => line(`the weeder deleted ${pod}`, plan.victim)] as const,
    ),
    ['whole', isVictimWhole, () => wholeLine(plan.victim, victim, plan)],
    ['twin waits', isVictimWhole && !isTwinWhole, () => waitLine(shootIn(snapshot, plan.twin), moment)],
    ['twin whole', isTwinWhole, () => wholeLine(plan.twin, twin, plan)],
  ];
};

export const remarksOf = (moment: Moment, { isWatched }: { readonly isWatched: boolean }): Remarks => {
  const { phase, plan } = moment;
  switch (phase) {
    case 'calm': {
      const { withWeeder } = plan;
      return [
        [
          'watched',
          withWeeder && isWatched,
          () => line('the weeder watches over their services etcd and kube-apiserver'),
        ],
        ['unwatched', !withWeeder, () => line('no weeder runs: pods that crash-loop are left to their back-off')],
      ];
    }
    case 'outage':
      return outageRemarks(moment);
    case 'recovery':
      return recoveryRemarks(moment);
    case 'over':
      return [];
  }
};
