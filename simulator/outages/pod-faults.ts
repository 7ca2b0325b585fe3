import type { Clock } from '../../src/ports/clock.ts';
import { type SimDraft, simKinds } from '../apiserver/index.ts';
import type { World, WorldShoot } from '../world/index.ts';
import type { Fault, SliceContent, StrayPod } from './plan.ts';
import { serviceOf } from './pod-facts.ts';
import type { End } from './way-faults.ts';

// What goes wrong with pods and services of control planes.

type PodFault = Extract<Fault, { kind: 'etcd' | 'crash' | 'second-slice' | 'no-slices' | 'stray-pod' }>;

export interface PodFaultInjector {
  begin(fault: PodFault): End;
}

const nothing: End = () => undefined;

/** Name of the one container of all stray pods. */
const stray = 'stray';

const dependantLabels = { app: 'kubernetes', role: 'stray', 'gardener.cloud/role': 'controlplane' };

const strayPod = (namespace: string, name: string, what: StrayPod): SimDraft => {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: `owner-of-${name}`, controller: true };
  const waiting = { waiting: { reason: 'CrashLoopBackOff' } };
  return {
    metadata: {
      name,
      namespace,
      labels: what === 'stranger' ? { app: 'stranger', role: 'stray' } : dependantLabels,
      ownerReferences: [what === 'unowned' ? { ...owner, controller: false } : owner],
    },
    spec: {
      nodeName: 'node',
      containers: [{ name: stray, image: 'simulated/stray:v1' }],
      terminationGracePeriodSeconds: 5,
    },
    ...(what === 'init' ? { status: { initContainerStatuses: [{ name: 'init', state: waiting }] } } : {}),
    ...(what === 'sidecar' ? { status: { ephemeralContainerStatuses: [{ name: 'debugger', state: waiting }] } } : {}),
  };
};

const endpointsOf = (content: SliceContent | 'ready'): unknown => {
  const addresses = ['10.9.9.9'];
  switch (content) {
    case 'ready':
      return [{ addresses, conditions: { ready: true } }];
    case 'silent about readiness':
      return [{ addresses }];
    case 'unready':
      return [{ addresses, conditions: { ready: false } }];
    case 'terminating':
      return [{ addresses, conditions: { ready: true, terminating: true } }];
    case 'empty':
      return null;
  }
};

export const createPodFaultInjector = (world: World, clock: Clock): PodFaultInjector => {
  const { store } = world;
  const crashing = new Map<string, string[]>();
  /** How many faults keep etcd away, by shoot. */
  const away = new Map<string, number>();
  let strays = 0;

  const shootsOf = (name: string | undefined): readonly WorldShoot[] =>
    world.shoots.filter((shoot) => name === undefined || shoot.name === name);

  const keepAway = (shoot: WorldShoot, by: 1 | -1): void => {
    const count = (away.get(shoot.name) ?? 0) + by;
    away.set(shoot.name, count);
    if (count > 0) shoot.breakEtcd();
    else shoot.mendEtcd();
  };

  /** `step` now and again and again; hears whether it is an even time. */
  const alternate = (everyMs: number, step: (isEven: boolean) => void): (() => void) => {
    let isEven = true;
    let cancel: () => void;
    const next = (): void => {
      step(isEven);
      isEven = !isEven;
      cancel = clock.timer(everyMs, next);
    };
    next();
    return () => cancel();
  };

  const loseEtcd = ({ shoot: name, everyMs }: Extract<Fault, { kind: 'etcd' }>): End => {
    const shoots = shootsOf(name);
    let isAway = false;
    const set = (next: boolean): void => {
      if (next === isAway) return;
      isAway = next;
      for (const shoot of shoots) keepAway(shoot, next ? 1 : -1);
    };
    set(true);
    const stop = everyMs === undefined ? (): void => undefined : alternate(everyMs, set);
    return () => {
      stop();
      set(false);
    };
  };

  const crash = (shoot: WorldShoot, component: string): End => {
    const all = crashing.get(shoot.name) ?? [];
    crashing.set(shoot.name, all);
    all.push(component);
    shoot.crash(all);
    return () => {
      all.splice(all.indexOf(component), 1);
      shoot.crash(all);
    };
  };

  const flapSlice = (shoot: WorldShoot, fault: Extract<Fault, { kind: 'second-slice' }>): End => {
    const { namespace } = shoot;
    const { service, otherwise, everyMs } = fault;
    const name = `${service}-second`;
    const labels = { 'kubernetes.io/service-name': service };
    const stop = alternate(everyMs, (isEven) => {
      const endpoints = endpointsOf(isEven ? otherwise : 'ready');
      store.put(simKinds.EndpointSlice, { metadata: { name, namespace, labels }, addressType: 'IPv4', endpoints });
    });
    return () => {
      stop();
      store.remove(simKinds.EndpointSlice, { namespace, name });
    };
  };

  const loseSlices = ({ namespace }: WorldShoot, service: string): End => {
    const slices = store.list(simKinds.EndpointSlice, namespace).filter((slice) => serviceOf(slice) === service);
    for (const { metadata } of slices) store.remove(simKinds.EndpointSlice, metadata);
    return () => {
      for (const slice of slices) {
        const isBack = store.get(simKinds.EndpointSlice, slice.metadata) !== undefined;
        if (!isBack && !slice.metadata.name.endsWith('-second')) store.put(simKinds.EndpointSlice, slice);
      }
    };
  };

  const addStray = (shoot: WorldShoot, what: StrayPod): End => {
    strays += 1;
    const { namespace } = shoot;
    const name = `stray-${String(strays)}`;
    const stopCrashing = crash(shoot, stray);
    store.put(simKinds.Pod, strayPod(namespace, name, what));
    return async () => {
      store.remove(simKinds.Pod, { namespace, name });
      await stopCrashing();
    };
  };

  return {
    begin: (fault) => {
      if (fault.kind === 'etcd') return loseEtcd(fault);
      const [shoot] = shootsOf(fault.shoot);
      if (shoot === undefined) return nothing;
      switch (fault.kind) {
        case 'crash':
          return crash(shoot, fault.component);
        case 'second-slice':
          return flapSlice(shoot, fault);
        case 'no-slices':
          return loseSlices(shoot, fault.service);
        case 'stray-pod':
          return addStray(shoot, fault.what);
      }
    },
  };
};
