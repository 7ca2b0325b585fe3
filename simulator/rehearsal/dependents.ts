import { judgeKind } from '../../src/config/index.ts';
import { type ResourceRef, refKey } from '../../src/kubernetes/api/resource-ref.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { DependentResource, ProberSettings } from '../../src/prober/index.ts';
import { type SimDraft, type SimKind, type SimObject, apiVersionOf, customKind, simKinds } from '../apiserver/index.ts';
import { type World, kubeControllerManager, machineControllerManager } from '../world/index.ts';

/** What the simulated seed serves of a configuration. */
export interface RehearsedKinds {
  /** All of them. */
  readonly served: readonly SimKind[];
  /** By `refKey`, of those that can be scaled. */
  readonly byRef: ReadonlyMap<string, SimKind>;
}

/** A kind with counts where most have them. Its plural matters to nobody but discovery. */
const kindOf = ({ apiVersion, kind }: ResourceRef): SimKind => {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const scale = { replicas: ['spec', 'replicas'], statusReplicas: ['status', 'replicas'] };
  return customKind({ group, version, kind, resource: `${kind.toLowerCase()}s` }, { status: true, scale });
};

/** Resources of which only a seed can tell whether it serves their kind with a scale subresource. */
export const unknownResources = ({ dependentResources }: ProberSettings): readonly DependentResource[] =>
  dependentResources.filter(({ ref }) => judgeKind(ref).kind === 'unknown');

/** Known kinds with a scale subresource; any other is not served: what would protect nothing in a seed protects nothing here. */
export const rehearsedKinds = (resources: readonly DependentResource[]): RehearsedKinds => {
  const served: SimKind[] = Object.values(simKinds);
  const byRef = new Map<string, SimKind>();
  for (const { ref } of resources) {
    if (judgeKind(ref).kind !== 'scalable') continue;
    let kind = served.find((known) => apiVersionOf(known) === ref.apiVersion && known.kind === ref.kind);
    if (kind === undefined) {
      kind = kindOf(ref);
      served.push(kind);
    }
    if (kind.scale !== undefined) byRef.set(refKey(ref), kind);
  }
  return { served, byRef };
};

const atPath = (path: readonly string[], value: unknown): Readonly<Record<string, unknown>> =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Readonly<Record<string, unknown>>;

/** The number of replicas that an object should have. */
export const replicasOf = (object: SimObject, { scale }: SimKind): number => {
  const found = scale?.replicas.reduce<unknown>(
    (inner, key) => (inner as Record<string, unknown> | undefined)?.[key],
    object,
  );
  return typeof found === 'number' ? found : 1;
};

/** Status of an object whose replicas have all come or gone. */
const statusOf = (kind: SimKind, replicas: number, generation: number | undefined): object => ({
  ...(atPath(kind.scale?.statusReplicas ?? ['status', 'replicas'], replicas).status as object),
  readyReplicas: replicas,
  observedGeneration: generation,
});

/** Up with one replica, and ready. */
const upAndReady = (kind: SimKind, namespace: string, name: string): SimDraft => {
  const labels = { role: name };
  const workload = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [] } } };
  return {
    metadata: { namespace, name, labels },
    spec: { ...(kind.group === 'apps' ? workload : {}), ...(atPath(kind.scale?.replicas ?? [], 1).spec as object) },
    status: statusOf(kind, 1, 1),
  };
};

const secretOf = (namespace: string, name: string, kubeconfig: string): SimDraft => ({
  metadata: { namespace, name },
  data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
});

/** Puts what the configuration names into the namespace of every shoot, where it is not there yet. */
export const populate = (world: World, settings: ProberSettings, { byRef }: RehearsedKinds): void => {
  const { store } = world;
  const { kubeConfigSecretName, externalProbe, dependentResources } = settings;
  for (const { namespace, api } of world.shoots) {
    store.put(simKinds.Secret, secretOf(namespace, kubeConfigSecretName, api.kubeconfig()));
    if (externalProbe !== undefined) {
      const { kubeConfigSecretName: name } = externalProbe;
      store.put(simKinds.Secret, secretOf(namespace, name, api.publicWay.kubeconfig()));
    }
    for (const { ref } of dependentResources) {
      const kind = byRef.get(refKey(ref));
      if (kind === undefined || store.get(kind, { namespace, name: ref.name }) !== undefined) continue;
      store.put(kind, upAndReady(kind, namespace, ref.name));
    }
  }
};

/** Managers whose Deployments the world brings to life. */
const managers = [kubeControllerManager, machineControllerManager];

/**
 * The controllers of all kinds but Deployments, which the world has one for: status follows spec. A manager that is configured as
 * another kind takes its Deployment with it.
 */
export const startFollowers = ({ store, timing }: World, clock: Clock, { byRef }: RehearsedKinds): (() => void) => {
  const settle = (kind: SimKind, { metadata }: SimObject): void => {
    const settled = store.patch(kind, metadata, (old) => ({
      ...old,
      status: { ...(old.status as object), ...statusOf(kind, replicasOf(old, kind), old.metadata.generation) },
    }));
    if (settled === undefined || !managers.includes(metadata.name)) return;
    store.patch(simKinds.Deployment, metadata, (old) => ({
      ...old,
      spec: { ...(old.spec as object), replicas: replicasOf(settled, kind) },
    }));
  };
  const others = new Set([...byRef.values()].filter((kind) => kind !== simKinds.Deployment));
  const unsubscribe = [...others].map((kind) =>
    store.subscribe(kind, ({ type, object, previous }) => {
      if (type !== 'MODIFIED' || previous === undefined) return;
      const isScaled = replicasOf(object, kind) !== replicasOf(previous, kind);
      const isObserved = object.metadata.generation === previous.metadata.generation;
      if (!isScaled && isObserved) return;
      const podMs = replicasOf(object, kind) === 0 ? timing.podStopMs : timing.podStartMs;
      clock.timer(timing.observeMs + (isScaled ? podMs : 0), () => settle(kind, object));
    }),
  );
  return () => {
    for (const stop of unsubscribe) stop();
  };
};
