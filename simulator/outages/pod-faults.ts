import type { Clock } from '../../src/ports/clock.ts';
import { type SimDraft, simKinds } from '../apiserver/index.ts';
import type { World, WorldShoot } from '../world/index.ts';
import { type End, type FaultOf, type Handlers, inShoot, repeat, shootsOf } from './fault-handlers.ts';
import type { SliceContent, StrayPod } from './plan.ts';
import { serviceOf } from './facts.ts';

/** Name of the only container of each stray pod. */
const stray = 'stray';

const dependantLabels = { app: 'kubernetes', role: 'stray', 'gardener.cloud/role': 'controlplane' };

const strayPod = (namespace: string, name: string, what: StrayPod): SimDraft => {
  const controller = what !== 'unowned';
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: `owner-of-${name}`, controller };
  const waiting = { waiting: { reason: 'CrashLoopBackOff' } };
  const containers = [{ name: stray, image: 'simulated/stray:v1' }];
  return {
    metadata: {
      name,
      namespace,
      labels: what === 'stranger' ? { app: 'stranger', role: 'stray' } : dependantLabels,
      ownerReferences: [owner],
    },
    spec: { nodeName: 'node', containers, terminationGracePeriodSeconds: 5 },
    ...(what === 'init' ? { status: { initContainerStatuses: [{ name: 'init', state: waiting }] } } : {}),
    ...(what === 'sidecar' ? { status: { ephemeralContainerStatuses: [{ name: 'debugger', state: waiting }] } } : {}),
  };
};

const addresses = ['10.9.9.9'];
const endpointsOf: Readonly<Record<SliceContent | 'ready', unknown>> = {
  ready: [{ addresses, conditions: { ready: true } }],
  'silent about readiness': [{ addresses }],
  unready: [{ addresses, conditions: { ready: false } }],
  terminating: [{ addresses, conditions: { ready: true, terminating: true } }],
  empty: null,
};

/** Faults of pods and services of control planes. */
export class PodFaults {
  readonly #world: World;
  readonly #clock: Clock;
  /** Components whose programs exit, by shoot. */
  readonly #crashing = new Map<string, string[]>();
  /** Number of active faults that keep etcd down, by shoot. */
  readonly #away = new Map<string, number>();
  #strays = 0;
  readonly handlers: Handlers<'etcd' | 'crash' | 'second-slice' | 'no-slices' | 'stray-pod'>;

  constructor(world: World, clock: Clock) {
    this.#world = world;
    this.#clock = clock;
    this.handlers = {
      etcd: (fault) => this.#loseEtcd(fault),
      crash: inShoot(world, (shoot, { component }) => this.#crash(shoot, component)),
      'second-slice': inShoot(world, (shoot, fault) => this.#flapSlice(shoot, fault)),
      'no-slices': inShoot(world, (shoot, { service }) => this.#loseSlices(shoot, service)),
      'stray-pod': inShoot(world, (shoot, { what }) => this.#addStray(shoot, what)),
    };
  }

  #loseEtcd({ shoot: name, everyMs }: FaultOf<'etcd'>): End {
    const shoots = shootsOf(this.#world, name);
    let isAway = false;
    const set = (next: boolean): void => {
      if (next === isAway) return;
      isAway = next;
      for (const shoot of shoots) this.#keepEtcdAway(shoot, next ? 1 : -1);
    };
    const stop = everyMs === undefined ? undefined : repeat(this.#clock, everyMs, () => set(!isAway));
    if (stop === undefined) set(true);
    return () => {
      stop?.();
      set(false);
    };
  }

  #keepEtcdAway(shoot: WorldShoot, by: 1 | -1): void {
    const count = (this.#away.get(shoot.name) ?? 0) + by;
    this.#away.set(shoot.name, count);
    if (count > 0) shoot.breakEtcd();
    else shoot.mendEtcd();
  }

  #crash(shoot: WorldShoot, component: string): End {
    const all = this.#crashing.get(shoot.name) ?? [];
    this.#crashing.set(shoot.name, all);
    all.push(component);
    shoot.crash(all);
    return () => {
      all.splice(all.indexOf(component), 1);
      shoot.crash(all);
    };
  }

  #flapSlice({ namespace }: WorldShoot, { service, otherwise, everyMs }: FaultOf<'second-slice'>): End {
    const { store } = this.#world;
    const name = `${service}-second`;
    const labels = { 'kubernetes.io/service-name': service };
    let isReady = true;
    const stop = repeat(this.#clock, everyMs, () => {
      isReady = !isReady;
      const endpoints = endpointsOf[isReady ? 'ready' : otherwise];
      store.put(simKinds.EndpointSlice, { metadata: { name, namespace, labels }, addressType: 'IPv4', endpoints });
    });
    return () => {
      stop();
      store.remove(simKinds.EndpointSlice, { namespace, name });
    };
  }

  #loseSlices({ namespace }: WorldShoot, service: string): End {
    const { store } = this.#world;
    const slices = store.list(simKinds.EndpointSlice, namespace).filter((slice) => serviceOf(slice) === service);
    for (const { metadata } of slices) store.remove(simKinds.EndpointSlice, metadata);
    return () => {
      for (const slice of slices) {
        const isBack = store.get(simKinds.EndpointSlice, slice.metadata) !== undefined;
        if (!isBack && !slice.metadata.name.endsWith('-second')) store.put(simKinds.EndpointSlice, slice);
      }
    };
  }

  #addStray(shoot: WorldShoot, what: StrayPod): End {
    this.#strays += 1;
    const { namespace } = shoot;
    const name = `stray-${String(this.#strays)}`;
    const stopCrashing = this.#crash(shoot, stray);
    this.#world.store.put(simKinds.Pod, strayPod(namespace, name, what));
    return async () => {
      this.#world.store.remove(simKinds.Pod, { namespace, name });
      await stopCrashing();
    };
  }
}
