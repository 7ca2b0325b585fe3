import { meltdownProtectionAnnotation, replicasAnnotation } from '../../src/annotations/scaling-annotations.ts';
import { parseGoDuration } from '../../src/kubernetes/api/duration.ts';
import { decodeScalable, workloadState } from '../../src/kubernetes/api/scalable.ts';
import type { FaultKind } from '../../src/page/feed/index.ts';
import type { ProberStatus, ShootStatus } from '../../src/status/state/schema.ts';
import { type SimObject, asMap, simKinds } from '../apiserver/index.ts';
import {
  type World,
  type WorldShoot,
  containerOf,
  kubeApiserver,
  readyOf,
  renewTimeOf,
  viewOf,
} from '../world/index.ts';
import { demoShoots, shownComponents } from './setting.ts';
import type { ComponentStatus, NodeStatus, PodStatus, ShootSnapshot, StatusSnapshot } from './snapshot.ts';

/** A fault that the demo injects into a shoot, or its repair. */
export interface DemoFault {
  readonly kind: FaultKind;
  /** Name of the shoot. */
  readonly shoot: string;
}

/** A user can do the same with kubectl, by annotations on the Cluster or Namespace. */
const effects: Readonly<Record<FaultKind, (shoot: WorldShoot) => void>> = {
  'cut kubelets': (shoot) => shoot.cutKubelets(),
  'connect kubelets': (shoot) => shoot.restoreKubelets(),
  'break etcd': (shoot) => shoot.breakEtcd(),
  'mend etcd': (shoot) => shoot.mendEtcd(),
};

const componentOf = (object: SimObject): ComponentStatus => {
  const { meta, ...scalable } = decodeScalable(object, object.kind);
  const { annotations, specReplicas, readyReplicas } = workloadState({ meta, ...scalable });
  return {
    name: meta.name,
    resourceVersion: Number(meta.resourceVersion),
    replicas: specReplicas,
    readyReplicas,
    active: Object.hasOwn(annotations, meltdownProtectionAnnotation),
    stored: annotations[replicasAnnotation],
  };
};

/** Reads the back-off from the kubelet's message, `back-off 40s restarting failed container=...`, and the container's `finishedAt` (resolution 1 s). */
const podOf = (pod: SimObject): PodStatus => {
  const { name, uid, deletionTimestamp } = pod.metadata;
  const { state = {}, lastState = {}, restartCount = 0 } = viewOf(pod) ?? {};
  const { reason, message } = asMap(state.waiting);
  const duration = parseGoDuration(/^back-off (\S+)/.exec(String(message))?.[1] ?? '');
  const ms = duration.ok ? duration.value : 0;
  return {
    ...{ name, uid, deleting: deletionTimestamp !== undefined, restarts: restartCount },
    component: String(containerOf(pod).name),
    backOff:
      reason === 'CrashLoopBackOff'
        ? { ms, endsAt: Date.parse(String(asMap(lastState.terminated).finishedAt)) + ms }
        : undefined,
  };
};

const nodesOf = ({ store }: WorldShoot): readonly NodeStatus[] => {
  const leases = new Map(store.list(simKinds.Lease).map((lease) => [lease.metadata.name, renewTimeOf(lease)]));
  return store.list(simKinds.Node).map((node) => {
    const { name } = node.metadata;
    return { name, ready: readyOf(node)?.status ?? 'absent', renewedAt: leases.get(name) };
  });
};

export interface StageOptions {
  readonly world: World;
  /** Current time in milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns the prober's `GET /status`; undefined while it does not respond. Never rejects. Absent if no prober runs. */
  readonly readStatus?: (signal: AbortSignal) => Promise<ProberStatus | undefined>;
}

/** What the demo shows, the objects of its world and what the prober tells of them, and the faults that it injects. */
export class Stage {
  readonly #options: StageOptions;
  /** What the prober has told last of each shoot, by namespace. */
  #told: ReadonlyMap<string, ShootStatus> = new Map();
  #isAsking = false;

  constructor(options: StageOptions) {
    this.#options = options;
  }

  /** The shoots that the demo looks at. The seed may have others. */
  get shoots(): readonly WorldShoot[] {
    return demoShoots.map(({ name }) => this.#options.world.shoot(name));
  }

  get allShoots(): readonly WorldShoot[] {
    return this.#options.world.shoots;
  }

  /** True if the prober, if it runs, has probed every shoot. */
  get isWatched(): boolean {
    const seen = [...this.#told.values()].filter(({ lookedAt }) => lookedAt !== undefined);
    return this.#options.readStatus === undefined || seen.length >= demoShoots.length;
  }

  snapshot(signal: AbortSignal): StatusSnapshot {
    const { now } = this.#options;
    this.#askProber(signal);
    return {
      at: now(),
      shoots: this.shoots.map((shoot) => this.#shootSnapshot(shoot)),
    };
  }

  inject({ kind, shoot }: DemoFault): void {
    effects[kind](this.#options.world.shoot(shoot));
  }

  /** Asks the prober without waiting for it: it builds its status at most once a second. */
  #askProber(signal: AbortSignal): void {
    const { readStatus } = this.#options;
    if (readStatus === undefined || this.#isAsking) return;
    this.#isAsking = true;
    void readStatus(signal).then((status) => {
      this.#isAsking = false;
      if (status !== undefined) this.#told = new Map(status.shoots.map((shoot) => [shoot.namespace, shoot]));
    });
  }

  #shootSnapshot(shoot: WorldShoot): ShootSnapshot {
    const { store } = this.#options.world;
    const { name, namespace } = shoot;
    const components = [...store.list(simKinds.StatefulSet, namespace), ...store.list(simKinds.Deployment, namespace)]
      .map(componentOf)
      .filter((component) => shownComponents.includes(component.name))
      .toSorted((a, b) => shownComponents.indexOf(a.name) - shownComponents.indexOf(b.name));
    const answers = components.some((one) => one.name === kubeApiserver && one.readyReplicas > 0);
    const { state = 'not probed', why } = this.#told.get(namespace) ?? {};
    return {
      ...{ name, state, why, answers, components, isCut: shoot.isCut(), isEtcdDown: shoot.isEtcdDown() },
      nodes: answers ? nodesOf(shoot) : [],
      machines: store.list(simKinds.Machine, namespace).map(({ metadata }) => metadata.name),
      pods: store.list(simKinds.Pod, namespace).map(podOf),
      weeded: store
        .list(simKinds.Event, namespace)
        .filter(({ reason }) => reason === 'DependencyReady')
        .map(({ involvedObject, metadata }) => ({
          pod: String(asMap(involvedObject).name),
          resourceVersion: Number(metadata.resourceVersion),
        })),
    };
  }
}
