import { formatPause, pausedAnnotation } from '../../src/annotations/pause.ts';
import { hasActive, ignoreScalingAnnotation } from '../../src/annotations/scaling-annotations.ts';
import { notManagedByMcm } from '../../src/gardener/node.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type SimDraft, type SimObject, asList, asMap, simKinds } from '../apiserver/index.ts';
import { leaseNamespace } from '../harness/index.ts';
import type { SeededRandom } from '../time/index.ts';
import {
  type World,
  type WorldShoot,
  annotated,
  editEmbedded,
  kubeconfigSecretName,
  secretObject,
} from '../world/index.ts';
import type { EmbeddedShoot } from './facts.ts';
import { type End, type FaultOf, type Handlers, inShoot, nothing, repeat, shootsOf } from './faults.ts';
import type { NetworkFaults } from './network-faults.ts';
import type { Fault, PlannedShoot } from './plan.ts';

export interface FaultOptions {
  /** The replicas of the shoots' Deployments, which a hibernated shoot gets back. */
  readonly shoots?: readonly PlannedShoot[];
  readonly random: SeededRandom;
  readonly world: World;
  readonly clock: Clock;
  readonly networkFaults: NetworkFaults;
}

/** Times that Gardener takes to scale down the control plane of a hibernated shoot, and to report a woken shoot as no longer hibernated. */
const hibernateMs = 3_000;
const wakeMs = 10_000;
/** Time from the deletion of a Namespace to that of its contents. */
const emptyingMs = 20_000;

type Cut = FaultOf<'load-balancer' | 'nat-gateway' | 'public-way'>;

/** Kinds of faults with a handler here: those about one shoot, except faults of pods. */
type OfShoot =
  | Exclude<Extract<Fault, { readonly shoot: string | undefined }>['kind'], 'etcd' | 'crash'>
  | 'api-server-clock';

const replicasOf = ({ spec }: SimObject): number => Number(asMap(spec).replicas ?? 1);
const withReplicas = (object: SimObject, replicas: number): SimDraft => ({
  ...object,
  spec: { ...asMap(object.spec), replicas },
});

const nodeNames = ({ store }: WorldShoot, numbers: readonly number[]): readonly string[] => {
  const nodes = store.list(simKinds.Node);
  return numbers.flatMap((number) => nodes[number]?.metadata.name ?? []);
};

const secretOf = ({ namespace }: WorldShoot) => ({ namespace, name: kubeconfigSecretName });

/** Removes the object that represents a cluster: its Cluster, or its Secret. */
export const removeCluster = ({ store, source }: World, shoot: WorldShoot): void => {
  if (source === 'secret') store.remove(simKinds.Secret, secretOf(shoot));
  else store.remove(simKinds.Cluster, { name: shoot.namespace });
};

/** Changes of nodes that make them no candidates, and their reversal (`isOn` false). */
const nodeEdits: Readonly<Record<'unmanaged' | 'unhealthy' | 'tainted', (old: SimObject, isOn: boolean) => SimDraft>> =
  {
    unmanaged: (old, isOn) => annotated({ [notManagedByMcm]: isOn ? '1' : undefined })(old),
    unhealthy: (old, isOn) => {
      const { conditions, ...status } = asMap(old.status);
      const problem = { type: 'KernelDeadlock', status: isOn ? 'True' : 'False', reason: 'Simulated' };
      const others = asList(conditions).filter((condition) => asMap(condition).type !== problem.type);
      return { ...old, status: { ...status, conditions: [...others, problem] } };
    },
    /** Like cluster-autoscaler before it removes nodes. */
    tainted: (old, isOn) => {
      const { taints, ...spec } = asMap(old.spec);
      const key = 'ToBeDeletedByClusterAutoscaler';
      const others = asList(taints).filter((taint) => asMap(taint).key !== key);
      return { ...old, spec: { ...spec, taints: isOn ? [...others, { key, effect: 'NoSchedule' }] : others } };
    },
  };

const loseCandidates = (world: World, shoot: WorldShoot, { how, nodes }: FaultOf<'not-candidates'>): End => {
  const { store, namespace } = shoot;
  const names = nodeNames(shoot, nodes);
  if (how === 'machine-failed') {
    for (const name of names) {
      world.store.patch(simKinds.Machine, { namespace, name }, (old) => {
        const { currentStatus, ...status } = asMap(old.status);
        return { ...old, status: { ...status, currentStatus: { ...asMap(currentStatus), phase: 'Failed' } } };
      });
    }
    return nothing;
  }
  if (how === 'deleted') {
    // Their kubelets keep running, and register again at the end.
    const deleted = names.flatMap((name) => store.get(simKinds.Node, { name }) ?? []);
    for (const { metadata } of deleted) store.remove(simKinds.Node, metadata);
    return () => {
      for (const node of deleted) store.put(simKinds.Node, node);
    };
  }
  const set = (isOn: boolean): void => {
    for (const name of names) store.patch(simKinds.Node, { name }, (old) => nodeEdits[how](old, isOn));
  };
  set(true);
  return () => set(false);
};

/** Makes the clocks of nodes wrong by the milliseconds that `offsetOf` returns for each. */
const skewNodes = ({ store }: WorldShoot, offsetOf: (node: string) => number): void => {
  const written = new Map<string, string>();
  const skew = ({ metadata: { name, namespace = '' }, spec }: SimObject): void => {
    const { renewTime } = spec as { readonly renewTime: string };
    const offset = offsetOf(name);
    if (offset === 0 || written.get(name) === renewTime) return;
    const wrong = new Date(Date.parse(renewTime) + offset).toISOString().replace('Z', '000Z');
    written.set(name, wrong);
    store.patch(simKinds.Lease, { namespace, name }, (old) => ({
      ...old,
      spec: { ...asMap(old.spec), renewTime: wrong },
    }));
  };
  store.subscribe(simKinds.Lease, ({ type, object }) => type !== 'DELETED' && skew(object), 'kube-node-lease');
};

const spoilCredentials = ({ store, source }: World, shoot: WorldShoot, { how }: FaultOf<'credentials'>): End => {
  const [first] = store.list(simKinds.Secret, shoot.namespace);
  const secret = source === 'gardener' ? first : store.get(simKinds.Secret, secretOf(shoot));
  if (how === 'replaced') {
    // Like an operator: another Secret of the same name, with another token.
    shoot.api.rotateToken();
    store.remove(simKinds.Secret, secretOf(shoot));
    store.put(simKinds.Secret, secretObject(secretOf(shoot), shoot.api.kubeconfig()));
  }
  if (how === 'expired' || how === 'rotated') shoot.api.rotateToken();
  if (how === 'rotated') shoot.publishKubeconfig();
  if (how === 'broken') shoot.publishKubeconfig('{"clusters": [');
  if ((how === 'missing' || how === 'removed') && secret !== undefined) store.remove(simKinds.Secret, secret.metadata);
  return () => {
    if (how === 'missing' && secret !== undefined) store.put(simKinds.Secret, secret);
    shoot.publishKubeconfig();
  };
};

/** Pauses protection like `dwd pause`, until `dwd resume`. */
const pauseProtection = ({ world, clock }: FaultOptions, { shoot, ms, expires }: FaultOf<'protection-pause'>): End => {
  const { store } = world;
  const [paused] = shootsOf(world, shoot);
  if (paused === undefined) return nothing;
  const name = shoot === undefined ? leaseNamespace : paused.namespace;
  const until = expires ? { until: Math.ceil((clock.now() + ms) / 1_000) * 1_000 } : {};
  const text = formatPause({ ...until, reason: 'simulated', by: 'an operator' });
  const put = (pause: Readonly<Record<string, string>>): void => {
    // All else stays: the Namespace may be being deleted, and another annotation may cut off its kubelets.
    const { metadata } = store.get(simKinds.Namespace, { name }) ?? {};
    const { [pausedAnnotation]: _, ...others } = metadata?.annotations ?? {};
    store.put(simKinds.Namespace, { metadata: { ...metadata, name, annotations: { ...others, ...pause } } });
  };
  put({ [pausedAnnotation]: text });
  return () => put({});
};

const edit = ({ store }: World, { namespace }: WorldShoot, change: (shoot: EmbeddedShoot) => EmbeddedShoot): void =>
  editEmbedded(store, namespace, change);

/** Gardener hibernates the shoot, and wakes it up at the end. It leaves a Deployment with the annotation of meltdown protection to the watchdog. */
const hibernate = ({ shoots = [], world, clock, networkFaults }: FaultOptions, shoot: WorldShoot): End => {
  const { store } = world;
  const planned = shoots.find(({ name }) => name === shoot.name)?.replicas ?? {};
  const before = store.list(simKinds.Deployment, shoot.namespace).map((deployment) => {
    const [{ name }, replicas] = [deployment.metadata, replicasOf(deployment)];
    return [name, replicas > 0 ? replicas : (planned[name] ?? 1)] as const;
  });
  const scale = (factor: 0 | 1): void => {
    for (const [name, replicas] of before) {
      store.patch(simKinds.Deployment, { namespace: shoot.namespace, name }, (old) =>
        hasActive({ annotations: old.metadata.annotations ?? {} }) ? old : withReplicas(old, factor * replicas),
      );
    }
  };
  const setEnabled = (enabled: boolean): void =>
    edit(world, shoot, (old) => ({ ...old, spec: { ...old.spec, hibernation: { enabled } } }));
  const setHibernated = (hibernated: boolean): void =>
    edit(world, shoot, (old) => ({ ...old, status: { ...old.status, hibernated } }));
  let openServer: End = nothing;
  setEnabled(true);
  const cancel = clock.timer(hibernateMs, () => {
    scale(0);
    setHibernated(true);
    openServer = networkFaults.close(shoot.name, 'refused');
  });
  return () => {
    cancel();
    void openServer();
    scale(1);
    setEnabled(false);
    clock.timer(wakeMs, () => setHibernated(false));
  };
};

const removeWorkers = (world: World, shoot: WorldShoot, { isForGood = false }: FaultOf<'no-workers'>): End => {
  let workers: readonly unknown[] | undefined;
  const setWorkers = (next: readonly unknown[]): void =>
    edit(world, shoot, (old) => {
      workers ??= old.spec.provider.workers ?? [];
      return { ...old, spec: { ...old.spec, provider: { ...old.spec.provider, workers: next } } };
    });
  setWorkers([]);
  return isForGood ? nothing : () => setWorkers(workers ?? []);
};

/** Faults of the paths of kubelets and clients to a shoot's API server. */
const pathFaults = (world: World): Handlers<Cut['kind']> => {
  const cuts = new Set<Cut>();
  const applyCuts = (name: string | undefined): void => {
    for (const shoot of shootsOf(world, name)) {
      shoot.restoreKubelets();
      let reachability: 'open' | 'refused' | 'silent' = 'open';
      for (const cut of cuts) {
        if ((cut.shoot ?? shoot.name) !== shoot.name) continue;
        if (cut.kind === 'load-balancer') shoot.cutKubelets();
        if (cut.kind === 'nat-gateway') shoot.cutKubelets(nodeNames(shoot, cut.nodes));
        else reachability = cut.how;
      }
      shoot.api.publicAddress.setReachability(reachability);
    }
  };
  const cutOff = (fault: Cut): End => {
    cuts.add(fault);
    applyCuts(fault.shoot);
    return () => {
      cuts.delete(fault);
      applyCuts(fault.shoot);
    };
  };

  return { 'load-balancer': cutOff, 'nat-gateway': cutOff, 'public-way': cutOff };
};

/** Faults of clocks and leases. */
const leaseFaults = (world: World): Handlers<'no-stamps' | 'long-leases' | 'node-clock' | 'api-server-clock'> => {
  /** Errors of clocks in milliseconds, by shoot and node, because nodes of two shoots may have the same name. */
  const offsets = new Map<string, number>();
  for (const shoot of world.shoots) skewNodes(shoot, (node) => offsets.get(`${shoot.name}/${node}`) ?? 0);
  return {
    'no-stamps': inShoot(world, ({ api }) => {
      api.server.setStamping(false);
      return () => api.server.setStamping(true);
    }),
    /** The kubelet renews as often as before. */
    'long-leases': inShoot(world, (shoot, { nodes, seconds: leaseDurationSeconds }) => {
      for (const name of nodeNames(shoot, nodes)) {
        shoot.store.patch(simKinds.Lease, { namespace: 'kube-node-lease', name }, (old) => ({
          ...old,
          spec: { ...asMap(old.spec), leaseDurationSeconds },
        }));
      }
      return nothing;
    }),
    'node-clock': inShoot(world, (shoot, { nodes, ms }) => {
      const skewed = nodeNames(shoot, nodes).map((node) => `${shoot.name}/${node}`);
      for (const node of skewed) offsets.set(node, ms);
      return () => {
        for (const node of skewed) offsets.delete(node);
      };
    }),
    'api-server-clock': ({ server: name, ms }) => {
      const server = shootsOf(world, name)[0]?.api.server;
      server?.setClockSkew(ms);
      return () => server?.setClockSkew(0);
    },
  };
};

/** Faults of a shoot: network paths of its kubelets, clocks, credentials, its Cluster, and other writers that scale its Deployments. */
export const shootFaults = (options: FaultOptions): Handlers<OfShoot> => {
  const { world, clock } = options;
  const { store } = world;
  const random = options.random.fork('troubles');
  return {
    ...pathFaults(world),
    ...leaseFaults(world),
    credentials: inShoot(world, (shoot, fault) => spoilCredentials(world, shoot, fault)),
    /** Like a HorizontalPodAutoscaler, which leaves a Deployment at 0 alone, or like a writer that does not. */
    autoscaler: inShoot(world, ({ namespace }, { deployment: name, everyMs, fromZero = false }) =>
      repeat(clock, everyMs, () => {
        const replicas = 1 + random.integer(4);
        store.patch(simKinds.Deployment, { namespace, name }, (old) =>
          fromZero || replicasOf(old) > 0 ? withReplicas(old, replicas) : old,
        );
      }),
    ),
    'ignore-scaling': inShoot(world, ({ namespace }, { deployment: name }) => {
      const set = (value: string | undefined): void =>
        void store.patch(simKinds.Deployment, { namespace, name }, annotated({ [ignoreScalingAnnotation]: value }));
      set('true');
      return () => set(undefined);
    }),
    'protection-pause': (fault) => pauseProtection(options, fault),
    hibernation: inShoot(world, (shoot) => hibernate(options, shoot)),
    deletion: inShoot(world, (shoot) => {
      const deletionTimestamp = new Date(clock.now()).toISOString();
      edit(world, shoot, (old) => ({ ...old, metadata: { ...old.metadata, deletionTimestamp } }));
      return nothing;
    }),
    'no-workers': inShoot(world, (shoot, fault) => removeWorkers(world, shoot, fault)),
    'cluster-gone': inShoot(world, (shoot) => {
      removeCluster(world, shoot);
      return nothing;
    }),
    'not-candidates': inShoot(world, (shoot, fault) => loseCandidates(world, shoot, fault)),
    /** Like the namespace controller, which takes some time for the contents. Nothing reverts it. */
    'namespace-deletion': inShoot(world, (shoot) => {
      const deletionTimestamp = new Date(clock.now()).toISOString();
      store.patch(simKinds.Namespace, { name: shoot.namespace }, (old) => ({
        ...old,
        metadata: { ...old.metadata, deletionTimestamp, finalizers: ['simulation/content'] },
      }));
      clock.timer(emptyingMs, () => store.remove(simKinds.Secret, secretOf(shoot)));
      return nothing;
    }),
  };
};
