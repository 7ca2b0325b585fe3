import { objectMeta } from './meta.ts';
import { podTemplate } from './pods.ts';
import type { BodyMessage } from './read.ts';

const labelSelector: BodyMessage = {
  matchLabels: [1, 'stringMap'],
  matchExpressions: [2, [{ key: [1, 'string'], operator: [2, 'string'], values: [3, 'strings'] }]],
};

/** Of Deployments (where times are two), StatefulSets and ReplicaSets. */
const workloadCondition: BodyMessage = {
  type: [1, 'string'],
  status: [2, 'string'],
  reason: [4, 'string'],
  message: [5, 'string'],
};

export const deployment: BodyMessage = {
  metadata: [1, objectMeta],
  spec: [
    2,
    {
      replicas: [1, 'integer', 'kept'],
      selector: [2, labelSelector, 'kept'],
      template: [3, podTemplate, 'kept'],
      strategy: [
        4,
        {
          type: [1, 'string'],
          rollingUpdate: [
            2,
            { maxUnavailable: [1, 'intOrString', 'kept'], maxSurge: [2, 'intOrString', 'kept'] },
            'kept',
          ],
        },
      ],
      minReadySeconds: [5, 'integer'],
      revisionHistoryLimit: [6, 'integer', 'kept'],
      paused: [7, 'bool'],
      progressDeadlineSeconds: [9, 'integer', 'kept'],
    },
  ],
  status: [
    3,
    {
      observedGeneration: [1, 'integer'],
      replicas: [2, 'integer'],
      updatedReplicas: [3, 'integer'],
      availableReplicas: [4, 'integer'],
      unavailableReplicas: [5, 'integer'],
      conditions: [6, [{ ...workloadCondition, lastUpdateTime: [6, 'time'], lastTransitionTime: [7, 'time'] }]],
      readyReplicas: [7, 'integer'],
      collisionCount: [8, 'integer', 'kept'],
      terminatingReplicas: [9, 'integer', 'kept'],
    },
  ],
};

export const statefulSet: BodyMessage = {
  metadata: [1, objectMeta],
  spec: [
    2,
    {
      replicas: [1, 'integer', 'kept'],
      selector: [2, labelSelector, 'kept'],
      template: [3, podTemplate, 'kept'],
      serviceName: [5, 'string'],
      podManagementPolicy: [6, 'string'],
      updateStrategy: [7, { type: [1, 'string'] }],
      revisionHistoryLimit: [8, 'integer', 'kept'],
      minReadySeconds: [9, 'integer'],
    },
  ],
  status: [
    3,
    {
      observedGeneration: [1, 'integer'],
      replicas: [2, 'integer', 'kept'],
      readyReplicas: [3, 'integer'],
      currentReplicas: [4, 'integer'],
      updatedReplicas: [5, 'integer'],
      currentRevision: [6, 'string'],
      updateRevision: [7, 'string'],
      collisionCount: [9, 'integer', 'kept'],
      conditions: [10, [{ ...workloadCondition, lastTransitionTime: [3, 'time'] }]],
      availableReplicas: [11, 'integer', 'kept'],
    },
  ],
};

export const replicaSet: BodyMessage = {
  metadata: [1, objectMeta],
  spec: [
    2,
    {
      replicas: [1, 'integer', 'kept'],
      selector: [2, labelSelector, 'kept'],
      template: [3, podTemplate, 'kept'],
      minReadySeconds: [4, 'integer'],
    },
  ],
  status: [
    3,
    {
      replicas: [1, 'integer', 'kept'],
      fullyLabeledReplicas: [2, 'integer'],
      observedGeneration: [3, 'integer'],
      readyReplicas: [4, 'integer'],
      availableReplicas: [5, 'integer'],
      conditions: [6, [{ ...workloadCondition, lastTransitionTime: [3, 'time'] }]],
      terminatingReplicas: [7, 'integer', 'kept'],
    },
  ],
};
