import { type SimObject, asMap, formatMicroTime, simKinds } from '../apiserver/index.ts';
import { type ActorDeps, startLoop } from './actor.ts';
import { readyOf, setConditions } from './nodes.ts';
import type { PathState } from './network-path.ts';
import { healthyConditions, leaseObject, nodeLeaseNamespace, nodeObject } from './objects.ts';

/** `hung`: the API server accepts requests but responds only when it continues, as with a stalled etcd or a stopped process. */
export type KubeletPath = () => PathState | 'hung';

export interface KubeletInit {
  readonly name: string;
  readonly path: KubeletPath;
  /** Time until the kubelet starts and registers its node. Absent: it is running already, and its node exists. */
  readonly bootMs?: number | undefined;
}

/** `wait.JitterUntil(..., 0.04, ...)` in k8s.io/component-helpers/apimachinery/lease/controller.go. */
const renewJitter = 0.04;
/** `backoffEnsureLease` in the same file. */
const firstBackoffMs = 200;
const longestBackoffMs = 7_000;
/** How soon a hanging request gets its response when the API server continues. */
const hungCheckMs = 500;

/**
 * Simulates the visible part of a kubelet: it renews its node's Lease and reports the node ready. On a silent path each attempt hangs
 * until its timeout, and the next one follows at once; if connections are refused, attempts back off. So the kubelet does not recover at
 * the same moment as the path. https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/kubelet_node_status.go
 */
class Kubelet {
  readonly #deps: ActorDeps;
  readonly #init: KubeletInit;
  #isNew: boolean;
  #failures = 0;
  #reportedAt: number;
  /** The Node when it was last seen ready. The store returns the same object until it changes. */
  #ready: SimObject | undefined;

  constructor(deps: ActorDeps, init: KubeletInit) {
    this.#deps = deps;
    this.#init = init;
    this.#isNew = init.bootMs !== undefined;
    this.#reportedAt = deps.clock.monotonic();
  }

  /** Starts the kubelet; returns the function that stops it. */
  start(): () => void {
    const { clock, random, timing, store } = this.#deps;
    const { name, bootMs } = this.#init;
    const ageMs = random.next() * timing.leaseRenewMs;
    if (!this.#isNew) {
      this.#register();
      store.put(simKinds.Lease, leaseObject(name, { renewedAt: clock.now() - ageMs, renewMs: timing.leaseRenewMs }));
    }
    return startLoop(clock, bootMs ?? timing.leaseRenewMs - ageMs, () => this.#beat());
  }

  #beat(): number {
    const { random, timing } = this.#deps;
    switch (this.#init.path()) {
      case 'silent':
        return timing.heartbeatTimeoutMs;
      case 'hung':
        return hungCheckMs;
      case 'refused':
        this.#failures += 1;
        return Math.min(firstBackoffMs * 2 ** (this.#failures - 1), longestBackoffMs);
      case 'open':
        this.#failures = 0;
        if (this.#isNew) this.#register();
        this.#isNew = false;
        this.#renew();
        this.#report();
        return timing.leaseRenewMs * (1 + renewJitter * random.next());
    }
  }

  #register(): void {
    const { name } = this.#init;
    this.#deps.store.put(simKinds.Node, nodeObject(name, this.#deps.clock.now()));
  }

  #renew(): void {
    const { clock, timing, store } = this.#deps;
    const { name } = this.#init;
    const renewTime = formatMicroTime(clock.now());
    const lease = store.patch(simKinds.Lease, { namespace: nodeLeaseNamespace, name }, (old) => ({
      ...old,
      spec: { ...asMap(old.spec), renewTime },
    }));
    if (lease !== undefined) return;
    store.put(simKinds.Lease, leaseObject(name, { renewedAt: clock.now(), renewMs: timing.leaseRenewMs }));
  }

  #report(): void {
    const { clock, timing, store } = this.#deps;
    const { name } = this.#init;
    const node = store.get(simKinds.Node, { name });
    const isDue = clock.monotonic() - this.#reportedAt >= timing.statusReportMs;
    if (node === undefined || (!isDue && node === this.#ready)) return;
    this.#ready = readyOf(node)?.status === 'True' ? node : undefined;
    if (!isDue && this.#ready !== undefined) return;
    setConditions(store, name, (before) => healthyConditions(clock.now(), before));
    this.#reportedAt = clock.monotonic();
  }
}

export const startKubelet = (deps: ActorDeps, init: KubeletInit): (() => void) => new Kubelet(deps, init).start();
