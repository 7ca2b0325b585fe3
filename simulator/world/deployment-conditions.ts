import { type JsonMap, type SimObject, asList, asMap, formatTime, simKinds } from '../apiserver/index.ts';
import type { ActorDeps } from './actor.ts';
import { isObserved, wantedOf } from './workloads.ts';

/** Default of `maxUnavailable` of a rolling update. */
const unavailableShare = 0.25;

/** `MinimumReplicasAvailable` in k8s.io/kubernetes `pkg/controller/deployment/util`. True for 0 wanted replicas. */
const isAvailable = (deployment: SimObject): boolean => {
  const { availableReplicas } = asMap(deployment.status);
  const wanted = wantedOf(deployment);
  return Number(availableReplicas ?? 0) >= wanted - Math.floor(wanted * unavailableShare);
};

const available = {
  status: 'True',
  reason: 'MinimumReplicasAvailable',
  message: 'Deployment has minimum availability.',
};
const unavailable = {
  status: 'False',
  reason: 'MinimumReplicasUnavailable',
  message: 'Deployment does not have minimum availability.',
};
const progressed = {
  status: 'True',
  reason: 'NewReplicaSetAvailable',
  message: 'ReplicaSet has successfully progressed.',
};

const withConditions = (deployment: SimObject, ms: number): SimObject => {
  const status = asMap(deployment.status);
  const before = asList(status.conditions).map(asMap);
  const time = formatTime(ms);
  const condition = (type: string, told: Readonly<JsonMap>): JsonMap => {
    const known = before.find((other) => other.type === type);
    if (known !== undefined && known.status === told.status) return known;
    return { type, lastUpdateTime: time, lastTransitionTime: time, ...told };
  };
  const conditions = [
    condition('Available', isAvailable(deployment) ? available : unavailable),
    condition('Progressing', progressed),
  ];
  return { ...deployment, status: { ...status, conditions } };
};

/** Sets the conditions of the Deployments of a namespace as the deployment controller does. Templates never change: there are no rollouts. */
export const startDeploymentConditions = (
  { store, clock }: Pick<ActorDeps, 'store' | 'clock'>,
  namespace: string,
): (() => void) => {
  const reconcile = (deployment: SimObject): void => {
    if (!isObserved(deployment)) return;
    store.patch(simKinds.Deployment, deployment.metadata, (old) => withConditions(old, clock.now()));
  };
  const unsubscribe = store.subscribe(
    simKinds.Deployment,
    ({ type, object }) => {
      if (type !== 'DELETED') reconcile(object);
    },
    namespace,
  );
  for (const deployment of store.list(simKinds.Deployment, namespace)) reconcile(deployment);
  return unsubscribe;
};
