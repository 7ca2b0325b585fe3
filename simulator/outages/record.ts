import type { KubeRequest } from '../../src/kubernetes/api/kube.ts';
import {
  meltdownProtectionAnnotation,
  decodeScalable,
  ignoresScaling,
  replicasAnnotation,
  workloadState,
} from '../../src/kubernetes/api/scalable.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type SimObject, simKinds } from '../apiserver/index.ts';
import { type TrafficListener, leaseNamespace } from '../harness/index.ts';
import type { World } from '../world/index.ts';
import { clusterPhase, isAliveMachine, nodeFacts } from './facts.ts';
import type { DeploymentFacts, Life, Occurrence, SimEvent, Writer } from './history.ts';
import { isServiceReady, podFacts, serviceOf } from './pod-facts.ts';
import { type RequestNews, aboutOf, failureFacts } from './request-facts.ts';

export interface Recorder {
  note(occurrence: Occurrence): void;
  /** For the lines of one life. */
  listen(life: Life): (server: string) => TrafficListener;
}

export interface RecorderOptions {
  readonly world: World;
  readonly clock: Clock;
  readonly emit: (event: SimEvent) => void;
}

const deploymentFacts = (object: SimObject | undefined): DeploymentFacts | undefined => {
  if (object === undefined) return undefined;
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

/** Writes down what happens at the API servers: changes of objects with who made them, and what becomes of requests. */
export const createRecorder = ({ world, clock, emit }: RecorderOptions): Recorder => {
  /** Whose request is being done. */
  let writer: Writer = 'world';
  const note = (occurrence: Occurrence): void => emit({ ...occurrence, at: clock.monotonic() });
  const shootOf = new Map(world.shoots.map(({ name, namespace }) => [namespace, name]));

  const noteDeployment = (object: SimObject, change: { before?: SimObject; after?: SimObject }): void => {
    const shoot = shootOf.get(object.metadata.namespace ?? '');
    if (shoot === undefined) return;
    const before = deploymentFacts(change.before);
    const after = deploymentFacts(change.after);
    const { name } = object.metadata;
    note({
      kind: 'deployment',
      shoot,
      name,
      writer,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    });
  };

  const noteMachine = (object: SimObject, isThere: boolean): void => {
    const shoot = shootOf.get(object.metadata.namespace ?? '');
    const node = object.metadata.labels?.node;
    if (shoot === undefined || node === undefined) return;
    note({ kind: 'machine', shoot, node, isAlive: isThere && isAliveMachine(object) });
  };

  const noteCluster = (object: SimObject, isThere: boolean): void => {
    const shoot = shootOf.get(object.metadata.name);
    if (shoot !== undefined) note({ kind: 'cluster', shoot, phase: isThere ? clusterPhase(object) : 'gone' });
  };

  const notePod = (object: SimObject, change: { before?: SimObject; after?: SimObject }): void => {
    const { name, uid, namespace = '' } = object.metadata;
    const shoot = shootOf.get(namespace);
    if (shoot === undefined) return;
    const { before, after } = change;
    note({
      kind: 'pod',
      shoot,
      name,
      uid,
      writer,
      ...(before === undefined ? {} : { before: podFacts(before) }),
      ...(after === undefined ? {} : { after: podFacts(after) }),
    });
  };

  const noteService = (slice: SimObject): void => {
    const { namespace = '' } = slice.metadata;
    const [shoot, name] = [shootOf.get(namespace), serviceOf(slice)];
    if (shoot === undefined || name === undefined) return;
    const slices = store.list(simKinds.EndpointSlice, namespace).filter((other) => serviceOf(other) === name);
    note({ kind: 'service', shoot, name, isReady: isServiceReady(slices) });
  };

  const noteLeader = (object: SimObject): void => {
    const { holderIdentity = '' } = object.spec as { readonly holderIdentity?: string };
    note({ kind: 'leader', holder: holderIdentity, writer });
  };

  const { store } = world;
  for (const object of store.list(simKinds.Deployment)) noteDeployment(object, { after: object });
  for (const object of store.list(simKinds.Machine)) noteMachine(object, true);
  for (const object of store.list(simKinds.Pod)) notePod(object, { after: object });
  for (const slice of store.list(simKinds.EndpointSlice)) noteService(slice);
  store.subscribe(simKinds.Pod, ({ type, object, previous }) =>
    notePod(object, {
      ...(previous === undefined ? {} : { before: previous }),
      ...(type === 'DELETED' ? {} : { after: object }),
    }),
  );
  store.subscribe(simKinds.EndpointSlice, ({ object }) => noteService(object));
  store.subscribe(simKinds.Deployment, ({ type, object, previous }) =>
    noteDeployment(object, {
      ...(previous === undefined ? {} : { before: previous }),
      ...(type === 'DELETED' ? {} : { after: object }),
    }),
  );
  store.subscribe(simKinds.Machine, ({ type, object }) => noteMachine(object, type !== 'DELETED'));
  store.subscribe(simKinds.Cluster, ({ type, object }) => noteCluster(object, type !== 'DELETED'));
  store.subscribe(simKinds.Lease, ({ object }) => noteLeader(object), leaseNamespace);

  for (const { name: shoot, store: objects } of world.shoots) {
    const noteNode = (object: SimObject, isThere: boolean): void => {
      const node = object.metadata.name;
      note({ kind: 'node', shoot, node, ...(isThere ? { facts: nodeFacts(object) } : {}) });
    };
    const noteLease = (object: SimObject, exists: boolean): void =>
      note({ kind: 'lease', shoot, node: object.metadata.name, exists });
    for (const object of objects.list(simKinds.Node)) noteNode(object, true);
    for (const object of objects.list(simKinds.Lease, 'kube-node-lease')) {
      const { renewTime } = object.spec as { readonly renewTime: string };
      const since = clock.monotonic() + Date.parse(renewTime) - clock.now();
      note({ kind: 'lease', shoot, node: object.metadata.name, exists: true, since });
    }
    objects.subscribe(simKinds.Node, ({ type, object }) => noteNode(object, type !== 'DELETED'));
    objects.subscribe(simKinds.Lease, ({ type, object }) => noteLease(object, type !== 'DELETED'));
  }

  const listen =
    (life: Life) =>
    (server: string): TrafficListener => {
      const noteRequest = (id: number, request: KubeRequest, rest: RequestNews): void => {
        note({ kind: 'request', exchange: { life, server, id }, ...aboutOf(request, { server, shootOf }), ...rest });
      };
      const asked = new Map<number, KubeRequest>();
      const ended = (id: number, rest: RequestNews): void => {
        const request = asked.get(id);
        asked.delete(id);
        if (request !== undefined) noteRequest(id, request, rest);
      };
      return {
        sent: (id, request) => {
          asked.set(id, request);
          noteRequest(id, request, { stage: 'sent' });
        },
        serving: (id, request) => {
          const before = writer;
          writer = { life, server, id };
          noteRequest(id, request, { stage: 'served' });
          return () => {
            writer = before;
          };
        },
        answered: (id, status) => ended(id, { stage: 'answered', status }),
        failed: (id, error) => ended(id, { stage: 'failed', ...(error === undefined ? {} : failureFacts(error)) }),
      };
    };

  return { note, listen };
};
