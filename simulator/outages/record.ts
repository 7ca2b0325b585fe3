import type { KubeRequest } from '../../src/kubernetes/api/kube.ts';
import { decodeScalable, workloadState } from '../../src/kubernetes/api/scalable.ts';
import {
  meltdownProtectionAnnotation,
  ignoresScaling,
  replicasAnnotation,
} from '../../src/annotations/scaling-annotations.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type SimObject, simKinds } from '../apiserver/index.ts';
import { type TrafficListener, leaseNamespace } from '../harness/index.ts';
import { type World, type WorldShoot, isServiceReady } from '../world/index.ts';
import { nodeFacts, plainNodeFacts } from './facts.ts';
import type { DeploymentFacts, ProcessName, Occurrence, SimEvent, Writer } from './history.ts';
import { podFacts, serviceOf } from './pod-facts.ts';
import { recordClusters } from './record-clusters.ts';
import { type RequestNews, aboutOf, failureFacts } from './request-facts.ts';
import { type ObjectChange, follow } from './store-changes.ts';

export interface RecorderOptions {
  readonly world: World;
  readonly clock: Clock;
  readonly emit: (event: SimEvent) => void;
}

const deploymentFacts = (object: SimObject): DeploymentFacts => {
  const state = workloadState(decodeScalable(object, 'deployment'));
  return {
    replicas: state.specReplicas,
    ready: state.readyReplicas,
    isObserved: state.observed,
    stored: state.annotations[replicasAnnotation],
    isHeld: Object.hasOwn(state.annotations, meltdownProtectionAnnotation),
    isIgnored: ignoresScaling(state),
  };
};

/** Records events at the API servers: changes of objects with their writers, and the stages of requests. */
export class Recorder {
  readonly #world: World;
  readonly #clock: Clock;
  readonly #emit: (event: SimEvent) => void;
  /** Names of shoots by their namespaces. */
  readonly #shoots: ReadonlyMap<string, string>;
  /** Writer of the request that is being served. */
  #writer: Writer = 'world';

  constructor({ world, clock, emit }: RecorderOptions) {
    this.#world = world;
    this.#clock = clock;
    this.#emit = emit;
    this.#shoots = new Map(world.shoots.map(({ name, namespace }) => [namespace, name]));
    const { store } = world;
    follow(store, simKinds.Deployment, (change) => this.#noteDeployment(change));
    follow(store, simKinds.Pod, (change) => this.#notePod(change));
    follow(store, simKinds.EndpointSlice, ({ object }) => this.#noteService(object));
    recordClusters(world, (occurrence) => this.note(occurrence));
    store.subscribe(simKinds.Lease, ({ object }) => this.#noteLeader(object), leaseNamespace);
    for (const shoot of world.shoots) this.#followShoot(shoot);
  }

  note(occurrence: Occurrence): void {
    this.#emit({ ...occurrence, at: this.#clock.monotonic() });
  }

  /** Returns a function that creates the listeners for the requests of one process, by server. */
  listen(process: ProcessName): (server: string) => TrafficListener {
    return (server) => this.#listenTo(process, server);
  }

  #shootOf({ metadata }: SimObject): string | undefined {
    return this.#shoots.get(metadata.namespace ?? '');
  }

  #noteDeployment({ object, before, after }: ObjectChange): void {
    const shoot = this.#shootOf(object);
    if (shoot === undefined) return;
    this.note({
      kind: 'deployment',
      shoot,
      name: object.metadata.name,
      writer: this.#writer,
      before: before && deploymentFacts(before),
      after: after && deploymentFacts(after),
    });
  }

  #notePod({ object, before, after }: ObjectChange): void {
    const { name, uid } = object.metadata;
    const shoot = this.#shootOf(object);
    if (shoot === undefined) return;
    const facts = { before: before && podFacts(before), after: after && podFacts(after) };
    this.note({ kind: 'pod', shoot, name, uid, writer: this.#writer, ...facts });
  }

  #noteService(slice: SimObject): void {
    const [shoot, name] = [this.#shootOf(slice), serviceOf(slice)];
    if (shoot === undefined || name === undefined) return;
    const isReady = isServiceReady(this.#world.store, { ...slice.metadata, name });
    this.note({ kind: 'service', shoot, name, isReady });
  }

  #noteLeader(object: SimObject): void {
    const { holderIdentity = '' } = object.spec as { readonly holderIdentity?: string };
    this.note({ kind: 'leader', holder: holderIdentity, writer: this.#writer });
  }

  #followShoot({ name: shoot, store }: WorldShoot): void {
    follow(store, simKinds.Node, ({ object, after }) => this.#noteNode(shoot, object.metadata.name, after));
    for (const { metadata, spec } of store.list(simKinds.Lease, 'kube-node-lease')) {
      const { renewTime } = spec as { readonly renewTime: string };
      const since = this.#clock.monotonic() + Date.parse(renewTime) - this.#clock.now();
      this.note({ kind: 'lease', shoot, node: metadata.name, exists: true, since });
    }
    store.subscribe(simKinds.Lease, ({ type, object }) =>
      this.note({ kind: 'lease', shoot, node: object.metadata.name, exists: type !== 'DELETED' }),
    );
  }

  #noteNode(shoot: string, node: string, after: SimObject | undefined): void {
    if (this.#world.source === 'gardener') {
      this.note({ kind: 'node', shoot, node, facts: after && nodeFacts(after) });
      return;
    }
    this.note({ kind: 'node', shoot, node, facts: after && plainNodeFacts(after) });
    this.note({ kind: 'machine', shoot, node, isAlive: after !== undefined });
  }

  #listenTo(process: ProcessName, server: string): TrafficListener {
    const asked = new Map<number, KubeRequest>();
    const note = (id: number, request: KubeRequest, rest: RequestNews): void => {
      const about = aboutOf(request, { server, shoots: this.#shoots });
      this.note({ kind: 'request', exchange: { process, server, id }, ...about, ...rest });
    };
    const end = (id: number, rest: RequestNews): void => {
      const request = asked.get(id);
      asked.delete(id);
      if (request !== undefined) note(id, request, rest);
    };
    return {
      sent: (id, request) => {
        asked.set(id, request);
        note(id, request, { stage: 'sent' });
      },
      serving: (id, request) => {
        const before = this.#writer;
        this.#writer = { process, server, id };
        note(id, request, { stage: 'served' });
        return () => {
          this.#writer = before;
        };
      },
      answered: (id, status) => end(id, { stage: 'answered', status }),
      failed: (id, error) => end(id, { stage: 'failed', ...(error === undefined ? {} : failureFacts(error)) }),
    };
  }
}
