import {
  ignoresScaling,
  meltdownProtectionAnnotation,
  replicasAnnotation,
} from '../../src/annotations/scaling-annotations.ts';
import type { KubeRequest } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type SimObject, asMap, simKinds } from '../apiserver/index.ts';
import { type TrafficListener, leaseNamespace } from '../harness/index.ts';
import { requestKind } from '../network/index.ts';
import { type World, type WorldShoot, kubeconfigSecretName } from '../world/index.ts';
import { clusterPhase, isUnknownNode, secretPhase } from './facts.ts';
import type { DeploymentFacts, Occurrence, ProcessName, SimEvent, Writer } from './history.ts';

export interface RecorderOptions {
  readonly world: World;
  readonly clock: Clock;
  readonly emit: (event: SimEvent) => void;
}

const deploymentFacts = ({ metadata, spec }: SimObject): DeploymentFacts => {
  const { annotations = {} } = metadata;
  return {
    replicas: Number(asMap(spec).replicas ?? 1),
    stored: annotations[replicasAnnotation],
    isHeld: Object.hasOwn(annotations, meltdownProtectionAnnotation),
    isIgnored: ignoresScaling({ annotations }),
  };
};

/** The properties of a request that invariants use. */
type About = Pick<Extract<Occurrence, { kind: 'request' }>, 'verb' | 'resource' | 'shoot' | 'name'>;

const objectPath = /\/namespaces\/([^/]+)\/[^/]+(?:\/([^/]+))?/;

/** Records events at the API servers: changes of objects with their writers, and the stages of requests. */
export class Recorder {
  readonly #world: World;
  readonly #clock: Clock;
  readonly #emit: (event: SimEvent) => void;
  /** Names of shoots by their namespaces. */
  readonly #shoots: ReadonlyMap<string, string>;
  /** Writer of the request that is being served. */
  #writer: Writer = 'world';
  #requests = 0;

  constructor({ world, clock, emit }: RecorderOptions) {
    this.#world = world;
    this.#clock = clock;
    this.#emit = emit;
    this.#shoots = new Map(world.shoots.map(({ name, namespace }) => [namespace, name]));
    this.#followDeployments();
    world.store.subscribe(simKinds.Lease, ({ object }) => this.#noteLeader(object), leaseNamespace);
    if (world.source === 'gardener') this.#followClusters();
    else this.#followSecrets();
    for (const shoot of world.shoots) this.#followShoot(shoot);
  }

  note(occurrence: Occurrence): void {
    this.#emit({ ...occurrence, at: this.#clock.monotonic() });
  }

  /** Number of requests in progress. */
  requests(): number {
    return this.#requests;
  }

  #followDeployments(): void {
    const { store } = this.#world;
    const note = ({ metadata }: SimObject, before?: SimObject, after?: SimObject): void => {
      const shoot = this.#shoots.get(metadata.namespace ?? '');
      if (shoot === undefined) return;
      const facts = { before: before && deploymentFacts(before), after: after && deploymentFacts(after) };
      this.note({ kind: 'deployment', shoot, name: metadata.name, writer: this.#writer, ...facts });
    };
    for (const object of store.list(simKinds.Deployment)) note(object, undefined, object);
    store.subscribe(simKinds.Deployment, ({ type, object, previous }) =>
      note(object, previous, type === 'DELETED' ? undefined : object),
    );
  }

  #noteLeader({ spec }: SimObject): void {
    const { holderIdentity = '' } = spec as { readonly holderIdentity?: string };
    this.note({ kind: 'leader', holder: holderIdentity, writer: this.#writer });
  }

  #followClusters(): void {
    const { store } = this.#world;
    store.subscribe(simKinds.Cluster, ({ type, object }) => {
      const shoot = this.#shoots.get(object.metadata.name);
      const phase = type === 'DELETED' ? 'leave' : clusterPhase(object);
      if (shoot !== undefined) this.note({ kind: 'cluster', shoot, phase });
    });
  }

  #followSecrets(): void {
    const { store } = this.#world;
    const noteOf = (namespace: string): void => {
      const shoot = this.#shoots.get(namespace);
      if (shoot === undefined) return;
      const secret = store.get(simKinds.Secret, { namespace, name: kubeconfigSecretName });
      this.note({
        kind: 'cluster',
        shoot,
        phase: secretPhase(store.get(simKinds.Namespace, { name: namespace }), secret),
      });
    };
    store.subscribe(simKinds.Namespace, ({ object }) => noteOf(object.metadata.name));
    store.subscribe(simKinds.Secret, ({ object: { metadata } }) => {
      if (metadata.name === kubeconfigSecretName) noteOf(metadata.namespace ?? '');
    });
  }

  #followShoot({ name: shoot, store }: WorldShoot): void {
    store.subscribe(simKinds.Node, ({ object, previous }) => {
      const isGivenUp = previous !== undefined && !isUnknownNode(previous) && isUnknownNode(object);
      if (isGivenUp) this.note({ kind: 'node given up', shoot, node: object.metadata.name });
    });
    for (const { metadata, spec } of store.list(simKinds.Lease, 'kube-node-lease')) {
      const { renewTime } = spec as { readonly renewTime: string };
      const since = this.#clock.monotonic() + Date.parse(renewTime) - this.#clock.now();
      this.note({ kind: 'lease', shoot, node: metadata.name, since });
    }
    store.subscribe(simKinds.Lease, ({ type, object }) => {
      if (type !== 'DELETED') this.note({ kind: 'lease', shoot, node: object.metadata.name });
    });
  }

  /** Returns a function that creates the listeners for the requests of one process, by server. */
  listen(process: ProcessName): (server: string) => TrafficListener {
    return (server) => (request) => {
      const about = this.#aboutOf(request, server);
      const sentAt = this.#clock.monotonic();
      const note = (stage: 'sent' | 'served' | 'answered' | 'failed', status?: number): void =>
        this.note({ kind: 'request', stage, process, server, ...about, status });
      this.#requests += 1;
      note('sent');
      return {
        serving: () => {
          const before = this.#writer;
          this.#writer = { process, sentAt };
          note('served');
          return () => {
            this.#writer = before;
          };
        },
        ended: (status) => {
          this.#requests -= 1;
          note(status === undefined ? 'failed' : 'answered', status);
        },
      };
    };
  }

  #aboutOf(request: KubeRequest, server: string): About {
    const { verb, resource } = requestKind(request);
    if (server !== 'seed') return { verb, resource, shoot: server.replace('outside/', '') };
    const [, namespace = '', name] = objectPath.exec(request.path) ?? [];
    return { verb, resource, shoot: this.#shoots.get(namespace), name };
  }
}
