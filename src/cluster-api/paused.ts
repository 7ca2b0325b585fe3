/** Annotation of an object that the controllers of Cluster API leave alone while it is there, whatever its value (`HasPaused` in sigs.k8s.io/cluster-api/util/annotations). */
const pausedAnnotation = 'cluster.x-k8s.io/paused';

export const isPaused = (annotations: Readonly<Record<string, string>>): boolean =>
  annotations[pausedAnnotation] !== undefined;
