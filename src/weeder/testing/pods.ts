import type { ControllerReference, PodView } from '../../kubernetes/api/pod.ts';
import type { DependentPod } from '../events.ts';

/** Builds a crash-looping pod of the ReplicaSet `owner` that depends on the service `etcd`. */
export const badPod = (name: string, owner = 'rs', change: Partial<PodView> = {}): DependentPod => ({
  pod: {
    namespace: 'ns',
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    deleting: false,
    controller: { apiVersion: 'apps/v1', kind: 'ReplicaSet', uid: `uid-${owner}` },
    crashLooping: ['main'],
    ...change,
  },
  weeding: { namespace: 'ns', service: 'etcd', readyAt: 0, endsAt: 300_000 },
});

/** Builds a crash-looping pod with another controller owner, or with none. */
export const podOfOwner = (name: string, controller?: Omit<ControllerReference, 'uid'>): DependentPod =>
  badPod(name, 'rs', {
    controller: controller === undefined ? undefined : { ...controller, uid: `uid-${controller.kind}` },
  });

export const goodPod = (name: string, owner = 'rs'): DependentPod => badPod(name, owner, { crashLooping: [] });
