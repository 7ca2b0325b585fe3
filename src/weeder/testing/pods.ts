import type { PodView } from '../../kubernetes/api/pod.ts';
import type { DependentPod } from '../judge/decide.ts';

/** Builds a crash-looping pod of the ReplicaSet `owner` that depends on the service `etcd`. */
export const badPod = (name: string, owner = 'rs', change: Partial<PodView> = {}): DependentPod => ({
  pod: {
    namespace: 'ns',
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    deleting: false,
    controller: { kind: 'ReplicaSet', name: owner, uid: `uid-${owner}` },
    crashLooping: ['main'],
    ...change,
  },
  services: ['etcd'],
});

export const unownedPod = (name: string): DependentPod => {
  const { pod, services } = badPod(name);
  const { controller: _, ...rest } = pod;
  return { pod: rest, services };
};

export const goodPod = (name: string, owner = 'rs'): DependentPod => badPod(name, owner, { crashLooping: [] });
