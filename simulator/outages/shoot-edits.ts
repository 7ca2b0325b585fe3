import { pausedAnnotation } from '../../src/annotations/pause.ts';
import { notManagedByMcm } from '../../src/gardener/node.ts';
import { ignoreScalingAnnotation, hasActive } from '../../src/annotations/scaling-annotations.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type SimDraft, type SimObject, type SimStore, simKinds } from '../apiserver/index.ts';
import { type World, type WorldShoot, annotated, kubeconfigSecretName, secretObject } from '../world/index.ts';
import { type End, nothing } from './fault-handlers.ts';

/** Time from the deletion of a Namespace to that of its contents. */
const emptyingMs = 20_000;

// Changes that operators, Gardener and machine-controller-manager make to the objects of a shoot. Some return a function that reverts them.

const deploymentOf = ({ namespace }: WorldShoot, name: string) => ({ namespace, name });

export const setIgnoreScaling = ({ store }: World, shoot: WorldShoot, component: string): End => {
  const set = (value: string | undefined): void =>
    void store.patch(
      simKinds.Deployment,
      deploymentOf(shoot, component),
      annotated({ [ignoreScalingAnnotation]: value }),
    );
  set('true');
  return () => set(undefined);
};

/** Pauses protection like `dwd pause`. The returned function resumes it like `dwd resume`. */
export const pauseProtection = ({ store }: World, namespace: string, text: string): End => {
  const put = (pause: Readonly<Record<string, string>>): void => {
    // All else stays: the Namespace may be being deleted, and another annotation may cut off its kubelets.
    const { metadata } = store.get(simKinds.Namespace, { name: namespace }) ?? {};
    const { [pausedAnnotation]: _, ...others } = metadata?.annotations ?? {};
    store.put(simKinds.Namespace, { metadata: { ...metadata, name: namespace, annotations: { ...others, ...pause } } });
  };
  put({ [pausedAnnotation]: text });
  return () => put({});
};

export const replicasOf = ({ spec }: SimObject): number => (spec as { readonly replicas?: number }).replicas ?? 1;

const withReplicas = (object: SimObject, replicas: number): SimDraft => ({
  ...object,
  spec: { ...(object.spec as object), replicas },
});

/** Scales a Deployment like a HorizontalPodAutoscaler, which leaves a Deployment at 0 alone, or like a writer that does not. */
export const autoscale = (
  { store }: World,
  shoot: WorldShoot,
  {
    deployment,
    replicas,
    fromZero = false,
  }: { readonly deployment: string; readonly replicas: number; readonly fromZero?: boolean | undefined },
): void => {
  store.patch(simKinds.Deployment, deploymentOf(shoot, deployment), (old) =>
    fromZero || replicasOf(old) > 0 ? withReplicas(old, replicas) : old,
  );
};

/** Sets replicas like Gardener, which leaves a Deployment with the mark of meltdown protection to the watchdog. */
export const setCounts = (
  { store }: World,
  { namespace }: WorldShoot,
  counts: Readonly<Record<string, number>>,
): void => {
  for (const [name, replicas] of Object.entries(counts)) {
    store.patch(simKinds.Deployment, { namespace, name }, (old) =>
      hasActive({ annotations: old.metadata.annotations ?? {} }) ? old : withReplicas(old, replicas),
    );
  }
};

export const nodeNames = ({ store }: WorldShoot, numbers: readonly number[]): readonly string[] => {
  const nodes = store.list(simKinds.Node);
  return numbers.flatMap((number) => nodes[number]?.metadata.name ?? []);
};

export const failMachines = ({ store }: World, shoot: WorldShoot, nodes: readonly number[]): End => {
  for (const name of nodeNames(shoot, nodes)) {
    store.patch(simKinds.Machine, { namespace: shoot.namespace, name }, (old) => {
      const status = old.status as { readonly currentStatus?: object };
      return { ...old, status: { ...status, currentStatus: { ...status.currentStatus, phase: 'Failed' } } };
    });
  }
  return nothing;
};

/** Edits nodes. The returned function edits them again with `isOn` false. */
const onNodes = (
  shoot: WorldShoot,
  nodes: readonly number[],
  edit: (old: SimObject, isOn: boolean) => SimDraft,
): End => {
  const names = nodeNames(shoot, nodes);
  const set = (isOn: boolean): void => {
    for (const name of names) shoot.store.patch(simKinds.Node, { name }, (old) => edit(old, isOn));
  };
  set(true);
  return () => set(false);
};

export const disown = (shoot: WorldShoot, nodes: readonly number[]): End =>
  onNodes(shoot, nodes, (old, isOn) => annotated({ [notManagedByMcm]: isOn ? '1' : undefined })(old));

/** Taints nodes like cluster-autoscaler before it removes them. */
export const taint = (shoot: WorldShoot, nodes: readonly number[]): End => {
  const key = 'ToBeDeletedByClusterAutoscaler';
  return onNodes(shoot, nodes, (old, isOn) => {
    const { taints = [], ...spec } = old.spec as { readonly taints?: readonly { readonly key: string }[] };
    const others = taints.filter((known) => known.key !== key);
    return { ...old, spec: { ...spec, taints: isOn ? [...others, { key, effect: 'NoSchedule' }] : others } };
  });
};

/** Deletes nodes. Their kubelets keep running, and register again at the end. */
export const deleteNodes = ({ store, ...shoot }: WorldShoot, nodes: readonly number[]): End => {
  const deleted = nodeNames({ store, ...shoot }, nodes).flatMap((name) => store.get(simKinds.Node, { name }) ?? []);
  for (const { metadata } of deleted) store.remove(simKinds.Node, metadata);
  return () => {
    for (const node of deleted) store.put(simKinds.Node, node);
  };
};

export const secretOf = ({ namespace }: WorldShoot) => ({ namespace, name: kubeconfigSecretName });

/** Replaces a Secret like an operator: by another one of the same name, with another token. */
export const replaceSecret = ({ store }: World, shoot: WorldShoot): void => {
  shoot.api.rotateToken();
  store.remove(simKinds.Secret, secretOf(shoot));
  store.put(simKinds.Secret, secretObject(secretOf(shoot), shoot.api.kubeconfig()));
};

/** Deletes a Namespace like the namespace controller, which takes some time for the contents. Nothing reverts it. */
export const deleteNamespace = ({ store }: World, shoot: WorldShoot, clock: Clock): End => {
  const deletionTimestamp = new Date(clock.now()).toISOString();
  store.patch(simKinds.Namespace, { name: shoot.namespace }, (old) => ({
    ...old,
    metadata: { ...old.metadata, deletionTimestamp, finalizers: ['simulation/content'] },
  }));
  clock.timer(emptyingMs, () => store.remove(simKinds.Secret, secretOf(shoot)));
  return nothing;
};

/** Removes the object that represents a cluster: its Cluster, or its Secret. */
export const removeCluster = ({ store, source }: World, shoot: WorldShoot): void => {
  if (source === 'secret') store.remove(simKinds.Secret, secretOf(shoot));
  else store.remove(simKinds.Cluster, { name: shoot.namespace });
};

export const makeUnhealthy = (shoot: WorldShoot, nodes: readonly number[]): End => {
  const type = 'KernelDeadlock';
  return onNodes(shoot, nodes, (old, isOn) => {
    const status = old.status as { readonly conditions: readonly { readonly type: string }[] };
    const others = status.conditions.filter((condition) => condition.type !== type);
    const conditions = isOn ? [...others, { type, status: 'True', reason: 'Simulated' }] : others;
    return { ...old, status: { ...status, conditions } };
  });
};

/** Gives a node's Lease the duration that its kubelet is configured with. The kubelet renews as often as before. */
export const lengthenLease = ({ store }: WorldShoot, name: string, leaseDurationSeconds: number): void =>
  void store.patch(simKinds.Lease, { namespace: 'kube-node-lease', name }, (old) => ({
    ...old,
    spec: { ...(old.spec as object), leaseDurationSeconds },
  }));

/** Makes the clocks of nodes wrong by the milliseconds that `offsetOf` returns for each. */
export const skewNodes = (store: SimStore, offsetOf: (node: string) => number): void => {
  const written = new Map<string, string>();
  store.subscribe(
    simKinds.Lease,
    ({ type, object }) => {
      const { name, namespace = '' } = object.metadata;
      const { renewTime } = object.spec as { readonly renewTime: string };
      const offset = offsetOf(name);
      if (type === 'DELETED' || offset === 0 || written.get(name) === renewTime) return;
      const wrong = new Date(Date.parse(renewTime) + offset).toISOString().replace('Z', '000Z');
      written.set(name, wrong);
      store.patch(simKinds.Lease, { namespace, name }, (old) => ({
        ...old,
        spec: { ...(old.spec as object), renewTime: wrong },
      }));
    },
    'kube-node-lease',
  );
};
