import { decodeScalable } from '../../src/kubernetes/api/scalable.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type SimObject, type SimStore, simKinds } from '../apiserver/index.ts';

/** One change of a Deployment's replicas or annotations. */
export interface DeploymentChange {
  /** Monotonic time in milliseconds. */
  readonly at: number;
  readonly namespace: string;
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly annotations: Readonly<Record<string, string>>;
}

const stateOf = (object: SimObject): Pick<DeploymentChange, 'annotations'> & { readonly replicas: number } => {
  const { meta, specReplicas = 1 } = decodeScalable(object, 'deployment');
  return { replicas: specReplicas, annotations: meta.annotations };
};

/** Records all changes of `spec.replicas` and annotations of Deployments by any client, and no changes of their status. */
export const recordDeployments = (store: SimStore, clock: Clock): readonly DeploymentChange[] => {
  const changes: DeploymentChange[] = [];
  store.subscribe(simKinds.Deployment, ({ type, object, previous }) => {
    if (type !== 'MODIFIED' || previous === undefined) return;
    const [before, after] = [stateOf(previous), stateOf(object)];
    const isSame =
      before.replicas === after.replicas && JSON.stringify(before.annotations) === JSON.stringify(after.annotations);
    if (isSame) return;
    const { namespace = '', name } = object.metadata;
    const { annotations } = after;
    changes.push({ at: clock.monotonic(), namespace, name, from: before.replicas, to: after.replicas, annotations });
  });
  return changes;
};
