import { meltdownProtectionAnnotation, replicasAnnotation } from '../../src/annotations/scaling-annotations.ts';
import { decodeScalable, workloadState } from '../../src/kubernetes/api/scalable.ts';
import { plural } from '../../src/status/state/words.ts';
import { type SimChange, type SimKind, type SimObject, asMap, simKinds } from '../apiserver/index.ts';
import {
  type World,
  type WorldShoot,
  containerOf,
  controlObjectOf,
  etcdAnnotation,
  kubeApiserver,
  kubeletsAnnotation,
  readyOf,
  viewOf,
} from '../world/index.ts';
import { type Line, type Tone, line } from './line.ts';

/** Says what a change of an object shows, as texts and tones; nothing for most changes. */
type Teller = (change: SimChange) => readonly (readonly [text: string, tone?: Tone])[];

const faultTexts = [
  [kubeletsAnnotation, 'its kubelets are cut off', 'its kubelets are connected'],
  [etcdAnnotation, 'its etcd is killed', 'its etcd is mended'],
] as const;

const tellFaults: Teller = ({ object, previous }) =>
  faultTexts.flatMap(([key, begins, ends]) => {
    const [was, is] = [previous, object].map((one) => one?.metadata.annotations?.[key] !== undefined);
    return was === is ? [] : [[is === true ? begins : ends, 'strong'] as const];
  });

interface Workload {
  readonly replicas: number;
  readonly ready: number;
  /** Value of the annotation that stores the replicas to restore. */
  readonly stored: string | undefined;
  readonly isHeld: boolean;
  /** True if there are replicas, all of them are ready, and the resource has no annotation of the prober. */
  readonly isUp: boolean;
}

const workloadOf = (object: SimObject): Workload => {
  const { annotations, specReplicas, readyReplicas } = workloadState(decodeScalable(object, object.kind));
  const stored = annotations[replicasAnnotation];
  const isHeld = Object.hasOwn(annotations, meltdownProtectionAnnotation);
  const isUp = specReplicas > 0 && readyReplicas >= specReplicas && stored === undefined && !isHeld;
  return { replicas: specReplicas, ready: readyReplicas, stored, isHeld, isUp };
};

const tellWorkload: Teller = ({ object, previous }) => {
  if (previous === undefined) return [];
  const [before, after] = [workloadOf(previous), workloadOf(object)];
  const name = object.metadata.name.padEnd(26);
  const isDown = object.metadata.name === kubeApiserver && before.ready > 0 && after.ready === 0;
  return [
    ...(isDown ? ([[`${kubeApiserver} is down`, 'bad']] as const) : []),
    ...(before.replicas === after.replicas
      ? []
      : [[`${name}  ${String(before.replicas)} -> ${String(after.replicas)}`] as const]),
    ...(after.isHeld && !before.isHeld
      ? [[`  annotated replicas=${after.stored ?? '?'}, meltdown-protection-active`] as const]
      : []),
    ...(before.isHeld && !after.isHeld ? [['  annotations removed'] as const] : []),
    ...(after.isUp && !before.isUp ? ([[`${name}  ready again`, 'good']] as const) : []),
  ];
};

/** Returns the back-off of a pod that crash-loops, from the kubelet's message: `back-off 40s restarting failed container=...`. */
const backOffOf = (pod: SimObject | undefined): string | undefined => {
  const { reason, message } = asMap(pod && viewOf(pod)?.state.waiting);
  return reason === 'CrashLoopBackOff' ? /^back-off (\S+)/.exec(String(message))?.[1] : undefined;
};

/** Tells of crash loops of kube-apiserver only, because the rest of the control plane waits for it. */
const tellCrashLoop: Teller = ({ type, object, previous }) => {
  const backOff = type === 'DELETED' || backOffOf(previous) !== undefined ? undefined : backOffOf(object);
  if (backOff === undefined || containerOf(object).name !== kubeApiserver) return [];
  return [[`crash loop: ${kubeApiserver} waits ${backOff} (${plural(viewOf(object)?.restartCount ?? 0, 'restart')})`]];
};

const tellWeeded: Teller = ({ type, object: { reason, involvedObject } }) =>
  type === 'ADDED' && reason === 'DependencyReady'
    ? [[`the weeder deleted ${String(asMap(involvedObject).name)}`, 'good']]
    : [];

const tellMachine: Teller = ({ type, object }) =>
  type === 'DELETED' ? [[`MCM deleted healthy machine ${object.metadata.name}`, 'bad']] : [];

const tellNode =
  ({ store }: WorldShoot): Teller =>
  ({ type, object, previous }) => {
    if (type !== 'MODIFIED' || previous === undefined) return [];
    const [was, is] = [previous, object].map((node) => readyOf(node)?.status === 'True');
    if (was === is) return [];
    const nodes = store.list(simKinds.Node);
    const ready = nodes.filter((node) => readyOf(node)?.status === 'True').length;
    const state = `${String(ready)} of ${String(nodes.length)} Ready`;
    return [is === true ? [`nodes: ${state}`] : [`KCM has given up a node (Unknown): ${state}`, 'bad']];
  };

/** Prints what happens in the seed to some shoots, as the objects show it. Returns the function that stops it. */
export const tellHappenings = (
  { store, source }: World,
  shoots: readonly WorldShoot[],
  print: (line: Line) => void,
): (() => void) => {
  const stops = shoots.flatMap((shoot) => {
    const { name, namespace } = shoot;
    const telling =
      (teller: Teller) =>
      (change: SimChange): void => {
        for (const [text, tone] of teller(change)) print(line(text, name, tone));
      };
    const { kind: steering } = controlObjectOf(source, namespace);
    const ofSeed: readonly (readonly [SimKind, Teller])[] = [
      [simKinds.StatefulSet, tellWorkload],
      [simKinds.Deployment, tellWorkload],
      [simKinds.Pod, tellCrashLoop],
      [simKinds.Event, tellWeeded],
      [simKinds.Machine, tellMachine],
    ];
    return [
      store.subscribe(steering, (change) => {
        if (change.object.metadata.name === namespace) telling(tellFaults)(change);
      }),
      ...ofSeed.map(([kind, teller]) => store.subscribe(kind, telling(teller), namespace)),
      shoot.store.subscribe(simKinds.Node, telling(tellNode(shoot))),
    ];
  });
  return () => {
    for (const stop of stops) stop();
  };
};
