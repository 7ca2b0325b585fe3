import { serviceNameLabel } from '../../src/kubernetes/api/endpoint-slice.ts';
import type { SimObject } from '../apiserver/index.ts';
import type { PodFacts } from './history.ts';

// The specification's rules about pods, implemented independently of the weeder.

interface ContainerStatus {
  readonly state?: { readonly waiting?: { readonly reason?: string } };
}

interface PodStatus {
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
}

interface OwnerReference {
  readonly uid: string;
  readonly controller?: boolean;
}

export const podFacts = ({ metadata, status }: SimObject): PodFacts => {
  const {
    containerStatuses = [],
    initContainerStatuses = [],
    ephemeralContainerStatuses = [],
  } = (status ?? {}) as PodStatus;
  const containers = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  const owners = (metadata.ownerReferences ?? []) as unknown as readonly OwnerReference[];
  return {
    labels: metadata.labels ?? {},
    owner: owners.find(({ controller }) => controller === true)?.uid,
    isCrashLooping: containers.some(({ state }) => state?.waiting?.reason === 'CrashLoopBackOff'),
    isDeleting: metadata.deletionTimestamp !== undefined,
  };
};

export const serviceOf = ({ metadata }: SimObject): string | undefined => metadata.labels?.[serviceNameLabel];
