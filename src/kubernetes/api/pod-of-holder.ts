/**
 * Returns the name of the pod in the holder of an election Lease, which is `HOST_SUFFIX`, of ours as of controller-runtime's programs (`NewResourceLock` in
 * pkg/leaderelection). The suffix has no underscore, nor has the name of a pod.
 */
export const podOfHolder = (holder: string): string => holder.replace(/_[^_]*$/, '');
