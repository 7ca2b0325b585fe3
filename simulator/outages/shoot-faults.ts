import type { Clock } from '../../src/ports/clock.ts';
import { formatPause } from '../../src/annotations/pause.ts';
import { type SimObject, simKinds } from '../apiserver/index.ts';
import { type SeededRandom, createSeededRandom } from '../time/index.ts';
import { type World, type WorldShoot, editEmbedded } from '../world/index.ts';
import { leaseNamespace } from '../harness/index.ts';
import { type End, type FaultOf, type Handlers, inShoot, nothing, repeat, shootsOf } from './fault-handlers.ts';
import type { Fault, Plan } from './plan.ts';
import type { EmbeddedShoot } from './facts.ts';
import type { NetworkFaults } from './network-faults.ts';
import {
  autoscale,
  deleteNamespace,
  deleteNodes,
  disown,
  failMachines,
  lengthenLease,
  makeUnhealthy,
  nodeNames,
  pauseProtection,
  replaceSecret,
  replicasOf,
  secretOf,
  setCounts,
  setIgnoreScaling,
  skewNodes,
  taint,
} from './shoot-edits.ts';

/** Times that Gardener takes to scale down the control plane of a hibernated shoot, and to report a woken shoot as no longer hibernated. */
const hibernateMs = 3_000;
const wakeMs = 10_000;

type Cut = FaultOf<'load-balancer' | 'nat-gateway' | 'public-way'>;

/** Kinds of faults with a handler here: those about one shoot, except faults of pods. */
type OfShoot = Exclude<
  Extract<Fault, { readonly shoot: string | undefined }>['kind'],
  'etcd' | 'crash' | 'second-slice' | 'no-slices' | 'stray-pod'
>;

interface ShootFaultsOptions {
  readonly plan: Plan;
  readonly world: World;
  readonly clock: Clock;
  readonly networkFaults: NetworkFaults;
}

/** Faults of a shoot: network paths of its kubelets, clocks, credentials, its Cluster, and other writers that scale its Deployments. */
export class ShootFaults {
  readonly #plan: Plan;
  readonly #world: World;
  readonly #clock: Clock;
  readonly #networkFaults: NetworkFaults;
  readonly #random: SeededRandom;
  readonly #cuts = new Set<Cut>();
  /** Errors of clocks in milliseconds, by shoot and node, because nodes of two shoots may have the same name. */
  readonly #offsets = new Map<string, number>();
  readonly handlers: Handlers<OfShoot>;

  constructor({ plan, world, clock, networkFaults }: ShootFaultsOptions) {
    this.#plan = plan;
    this.#world = world;
    this.#clock = clock;
    this.#networkFaults = networkFaults;
    this.#random = createSeededRandom(plan.seed).fork('troubles');
    for (const shoot of world.shoots) {
      skewNodes(shoot.store, (node) => this.#offsets.get(`${shoot.name}/${node}`) ?? 0);
    }
    this.handlers = {
      'load-balancer': (fault) => this.#cut(fault),
      'nat-gateway': (fault) => this.#cut(fault),
      'public-way': (fault) => this.#cut(fault),
      'no-stamps': inShoot(world, (shoot) => {
        shoot.api.server.setStamping(false);
        return () => shoot.api.server.setStamping(true);
      }),
      'long-leases': inShoot(world, (shoot, { nodes, seconds }) => {
        for (const name of nodeNames(shoot, nodes)) lengthenLease(shoot, name, seconds);
        return nothing;
      }),
      'node-clock': inShoot(world, (shoot, fault) => this.#skew(shoot, fault)),
      credentials: inShoot(world, (shoot, { how }) => this.#spoilCredentials(shoot, how)),
      autoscaler: inShoot(world, (shoot, fault) => this.#autoscale(shoot, fault)),
      'ignore-scaling': inShoot(world, (shoot, { deployment }) => setIgnoreScaling(world, shoot, deployment)),
      'protection-pause': (fault) => this.#pauseProtection(fault),
      hibernation: inShoot(world, (shoot) => this.#hibernate(shoot)),
      deletion: inShoot(world, (shoot) => this.#markDeleted(shoot)),
      'no-workers': inShoot(world, (shoot) => this.#removeWorkers(shoot)),
      'cluster-gone': inShoot(world, (shoot) => {
        world.store.remove(simKinds.Cluster, { name: shoot.namespace });
        return nothing;
      }),
      'not-candidates': inShoot(world, (shoot, { how, nodes }) => {
        switch (how) {
          case 'unmanaged':
            return disown(shoot, nodes);
          case 'unhealthy':
            return makeUnhealthy(shoot, nodes);
          case 'machine-failed':
            return failMachines(world, shoot, nodes);
          case 'tainted':
            return taint(shoot, nodes);
          case 'deleted':
            return deleteNodes(shoot, nodes);
        }
      }),
      'namespace-deletion': inShoot(world, (shoot) => deleteNamespace(world, shoot, clock)),
    };
  }

  #applyCuts(): void {
    for (const shoot of this.#world.shoots) {
      shoot.restoreKubelets();
      let reachability: 'open' | 'refused' | 'silent' = 'open';
      for (const cut of this.#cuts) {
        if ((cut.shoot ?? shoot.name) !== shoot.name) continue;
        if (cut.kind === 'load-balancer') shoot.cutKubelets();
        if (cut.kind === 'nat-gateway') shoot.cutKubelets(nodeNames(shoot, cut.nodes));
        else reachability = cut.how;
      }
      shoot.api.publicAddress.setReachability(reachability);
    }
  }

  #pauseProtection({ shoot, ms, expires }: FaultOf<'protection-pause'>): End {
    const [paused] = shootsOf(this.#world, shoot);
    if (paused === undefined) return nothing;
    const until = expires ? { until: Math.ceil((this.#clock.now() + ms) / 1_000) * 1_000 } : {};
    const namespace = shoot === undefined ? leaseNamespace : paused.namespace;
    return pauseProtection(this.#world, namespace, formatPause({ ...until, reason: 'simulated', by: 'an operator' }));
  }

  #cut(fault: Cut): End {
    this.#cuts.add(fault);
    this.#applyCuts();
    return () => {
      this.#cuts.delete(fault);
      this.#applyCuts();
    };
  }

  #skew(shoot: WorldShoot, { nodes: numbers, ms }: FaultOf<'node-clock'>): End {
    const skewed = nodeNames(shoot, numbers).map((node) => `${shoot.name}/${node}`);
    for (const node of skewed) this.#offsets.set(node, ms);
    return () => {
      for (const node of skewed) this.#offsets.delete(node);
    };
  }

  #spoilCredentials(shoot: WorldShoot, how: FaultOf<'credentials'>['how']): End {
    const { store } = this.#world;
    const secret = this.#secretOf(shoot);
    if (how === 'replaced') replaceSecret(this.#world, shoot);
    if (how === 'expired' || how === 'rotated') shoot.api.rotateToken();
    if (how === 'rotated') shoot.publishKubeconfig();
    if (how === 'broken') shoot.publishKubeconfig('{"clusters": [');
    if (how === 'missing' && secret !== undefined) store.remove(simKinds.Secret, secret.metadata);
    return () => {
      if (how === 'missing' && secret !== undefined) store.put(simKinds.Secret, secret);
      shoot.publishKubeconfig();
    };
  }

  #secretOf(shoot: WorldShoot): SimObject | undefined {
    const { store, source } = this.#world;
    const [first] = store.list(simKinds.Secret, shoot.namespace);
    return source === 'gardener' ? first : store.get(simKinds.Secret, secretOf(shoot));
  }

  #autoscale(shoot: WorldShoot, { deployment, everyMs, fromZero }: FaultOf<'autoscaler'>): End {
    return repeat(this.#clock, everyMs, () =>
      autoscale(this.#world, shoot, { deployment, replicas: 1 + this.#random.integer(4), fromZero }),
    );
  }

  #edit({ namespace }: WorldShoot, edit: (shoot: EmbeddedShoot) => EmbeddedShoot): void {
    editEmbedded(this.#world.store, namespace, edit);
  }

  #hibernate(shoot: WorldShoot): End {
    const [world, clock] = [this.#world, this.#clock];
    const before = this.#countsOf(shoot);
    const setEnabled = (enabled: boolean): void =>
      this.#edit(shoot, (old) => ({ ...old, spec: { ...old.spec, hibernation: { enabled } } }));
    const setHibernated = (hibernated: boolean): void =>
      this.#edit(shoot, (old) => ({ ...old, status: { ...old.status, hibernated } }));
    let openServer: End = nothing;
    setEnabled(true);
    const cancel = clock.timer(hibernateMs, () => {
      setCounts(world, shoot, Object.fromEntries(Object.keys(before).map((name) => [name, 0])));
      setHibernated(true);
      openServer = this.#networkFaults.close(shoot.name, 'refused');
    });
    return () => {
      cancel();
      void openServer();
      setCounts(world, shoot, before);
      setEnabled(false);
      clock.timer(wakeMs, () => setHibernated(false));
    };
  }

  /** Returns the replicas that Gardener restores: the current ones, or those of the plan for a Deployment at 0. */
  #countsOf(shoot: WorldShoot): Readonly<Record<string, number>> {
    const planned = this.#plan.shoots.find(({ name }) => name === shoot.name)?.replicas ?? {};
    const deployments = this.#world.store.list(simKinds.Deployment, shoot.namespace);
    return Object.fromEntries(
      deployments.map((deployment) => {
        const [{ name }, replicas] = [deployment.metadata, replicasOf(deployment)];
        return [name, replicas > 0 ? replicas : (planned[name] ?? 1)];
      }),
    );
  }

  #markDeleted(shoot: WorldShoot): End {
    const deletionTimestamp = new Date(this.#clock.now()).toISOString();
    this.#edit(shoot, (old) => ({ ...old, metadata: { ...old.metadata, deletionTimestamp } }));
    return nothing;
  }

  #removeWorkers(shoot: WorldShoot): End {
    let workers: readonly unknown[] | undefined;
    const setWorkers = (next: readonly unknown[]): void =>
      this.#edit(shoot, (old) => {
        workers ??= old.spec.provider.workers ?? [];
        return { ...old, spec: { ...old.spec, provider: { ...old.spec.provider, workers: next } } };
      });
    setWorkers([]);
    return () => setWorkers(workers ?? []);
  }
}
