import type { BodyMessage } from './read.ts';

// Field numbers are those of `generated.proto` in k8s.io/apimachinery and k8s.io/api. What simulated objects have no use for (volumes,
// probes, affinities...) is left out: a body that has it is refused.

export const objectMeta: BodyMessage = {
  name: [1, 'string'],
  generateName: [2, 'string'],
  namespace: [3, 'string'],
  selfLink: [4, 'ignored'],
  uid: [5, 'string'],
  resourceVersion: [6, 'string'],
  generation: [7, 'integer'],
  creationTimestamp: [8, 'time'],
  deletionTimestamp: [9, 'time'],
  deletionGracePeriodSeconds: [10, 'integer', 'kept'],
  labels: [11, 'stringMap'],
  annotations: [12, 'stringMap'],
  ownerReferences: [
    13,
    [
      {
        kind: [1, 'string'],
        name: [3, 'string'],
        uid: [4, 'string'],
        apiVersion: [5, 'string'],
        controller: [6, 'bool', 'kept'],
        blockOwnerDeletion: [7, 'bool', 'kept'],
      },
    ],
  ],
  finalizers: [14, 'strings'],
  managedFields: [17, 'ignored'],
};

export const objectReference: BodyMessage = {
  kind: [1, 'string'],
  namespace: [2, 'string'],
  name: [3, 'string'],
  uid: [4, 'string'],
  apiVersion: [5, 'string'],
  resourceVersion: [6, 'string'],
  fieldPath: [7, 'string'],
};
