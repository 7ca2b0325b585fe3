import { careExtensionKinds } from '../../src/gardener/extensions.ts';
import {
  type SimKind,
  type SimObject,
  type SimStore,
  asList,
  asMap,
  extensionKinds,
  formatTime,
  simKinds,
} from '../apiserver/index.ts';
import { type ActorDeps, startLoop } from './actor.ts';
import { careDrafts, tunnelPod } from './care-objects.ts';
import { etcdMain } from './components.ts';
import { startDeploymentConditions } from './deployment-conditions.ts';
import { type ShootInit, technicalName } from './objects.ts';
import { wantedOf, withStatus } from './workloads.ts';

export interface ShootCareDeps extends ActorDeps {
  /** Store of the shoot; `store` is the seed's. */
  readonly shoot: SimStore;
}

/** Far below 5 min, the age at which a report counts as outdated if there is no garden from which to read heartbeats. */
const reportEveryMs = 60_000;

const reporters: readonly SimKind[] = careExtensionKinds.flatMap(({ kind, scope }) => {
  const served = extensionKinds.get(kind);
  return served === undefined || scope === 'cluster' ? [] : [served];
});

/** Makes the extensions of a control plane report their conditions periodically, unchanged. */
const startExtensionReports = (
  { clock, random, store }: Pick<ActorDeps, 'clock' | 'random' | 'store'>,
  namespace: string,
): (() => void) => {
  const report = (kind: SimKind, extension: SimObject): void => {
    const conditions = asList(asMap(extension.status).conditions).map(asMap);
    if (conditions.length === 0) return;
    const lastUpdateTime = formatTime(clock.now());
    store.patch(kind, extension.metadata, (old) =>
      withStatus(old, { conditions: conditions.map((condition) => ({ ...condition, lastUpdateTime })) }),
    );
  };
  return startLoop(clock, random.next() * reportEveryMs, () => {
    for (const kind of reporters) for (const extension of store.list(kind, namespace)) report(kind, extension);
    return reportEveryMs;
  });
};

/** Keeps the status of the Etcd in line with the StatefulSet of the same name, if the world has one. */
const startEtcd = ({ store }: Pick<ActorDeps, 'store'>, namespace: string): (() => void) => {
  const ref = { namespace, name: etcdMain };
  const reconcile = (): void => {
    const set = store.get(simKinds.StatefulSet, ref);
    if (set === undefined) return;
    const readyReplicas = Number(asMap(set.status).readyReplicas ?? 0);
    const ready = readyReplicas >= wantedOf(set);
    store.patch(simKinds.Etcd, ref, (etcd) => withStatus(etcd, { ready, readyReplicas }));
  };
  const unsubscribe = store.subscribe(simKinds.StatefulSet, reconcile, namespace);
  reconcile();
  return unsubscribe;
};

/**
 * Creates the objects from which care reads a shoot's health, all of them healthy, and keeps them in line with the world: conditions of
 * Deployments, etcd, reports of extensions. The nodes of the shoot must exist.
 */
export const startShootCare = (deps: ShootCareDeps, init: ShootInit): (() => void) => {
  if (init.careObjects !== true) return () => undefined;
  const { store, shoot, clock } = deps;
  const namespace = technicalName(init.name);
  for (const { kind, draft } of careDrafts({ init, ms: clock.now() })) {
    // In a control plane with pods some of these objects exist already.
    if (store.get(kind, draft.metadata) === undefined) store.put(kind, draft);
  }
  const [node] = shoot.list(simKinds.Node);
  if (node !== undefined) shoot.put(simKinds.Pod, tunnelPod(node.metadata.name));
  const stops = [startDeploymentConditions, startEtcd, startExtensionReports].map((start) => start(deps, namespace));
  return () => {
    for (const stop of stops) stop();
  };
};
