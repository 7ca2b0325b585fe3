import { objectMeta } from './meta.ts';
import type { BodyMessage } from './read.ts';

const resources: BodyMessage = { limits: [1, 'quantityMap'], requests: [2, 'quantityMap'] };

const container: BodyMessage = {
  name: [1, 'string'],
  image: [2, 'string'],
  command: [3, 'strings'],
  args: [4, 'strings'],
  workingDir: [5, 'string'],
  ports: [
    6,
    [
      {
        name: [1, 'string'],
        hostPort: [2, 'integer'],
        containerPort: [3, 'integer'],
        protocol: [4, 'string'],
        hostIP: [5, 'string'],
      },
    ],
  ],
  env: [7, [{ name: [1, 'string'], value: [2, 'string'] }]],
  resources: [8, resources],
  terminationMessagePath: [13, 'string'],
  imagePullPolicy: [14, 'string'],
  terminationMessagePolicy: [20, 'string'],
  restartPolicy: [24, 'string'],
};

const toleration: BodyMessage = {
  key: [1, 'string'],
  operator: [2, 'string'],
  value: [3, 'string'],
  effect: [4, 'string'],
  tolerationSeconds: [5, 'integer', 'kept'],
};

const podSpec: BodyMessage = {
  containers: [2, [container]],
  restartPolicy: [3, 'string'],
  terminationGracePeriodSeconds: [4, 'integer', 'kept'],
  activeDeadlineSeconds: [5, 'integer', 'kept'],
  dnsPolicy: [6, 'string'],
  nodeSelector: [7, 'stringMap'],
  serviceAccountName: [8, 'string'],
  serviceAccount: [9, 'string'],
  nodeName: [10, 'string'],
  hostNetwork: [11, 'bool'],
  securityContext: [14, {}],
  schedulerName: [19, 'string'],
  initContainers: [20, [container]],
  automountServiceAccountToken: [21, 'bool', 'kept'],
  tolerations: [22, [toleration]],
  priorityClassName: [24, 'string'],
  priority: [25, 'integer', 'kept'],
  readinessGates: [28, [{ conditionType: [1, 'string'] }]],
  enableServiceLinks: [30, 'bool', 'kept'],
  preemptionPolicy: [31, 'string'],
};

const state: BodyMessage = {
  waiting: [1, { reason: [1, 'string'], message: [2, 'string'] }, 'kept'],
  running: [2, { startedAt: [1, 'time'] }, 'kept'],
  terminated: [
    3,
    {
      exitCode: [1, 'integer', 'kept'],
      signal: [2, 'integer'],
      reason: [3, 'string'],
      message: [4, 'string'],
      startedAt: [5, 'time'],
      finishedAt: [6, 'time'],
      containerID: [7, 'string'],
    },
    'kept',
  ],
};

const containerStatus: BodyMessage = {
  name: [1, 'string'],
  state: [2, state, 'kept'],
  lastState: [3, state, 'kept'],
  ready: [4, 'bool', 'kept'],
  restartCount: [5, 'integer', 'kept'],
  image: [6, 'string', 'kept'],
  imageID: [7, 'string', 'kept'],
  containerID: [8, 'string'],
  started: [9, 'bool', 'kept'],
};

const podCondition: BodyMessage = {
  type: [1, 'string'],
  status: [2, 'string'],
  lastProbeTime: [3, 'time'],
  lastTransitionTime: [4, 'time'],
  reason: [5, 'string'],
  message: [6, 'string'],
  observedGeneration: [7, 'integer'],
};

const podStatus: BodyMessage = {
  phase: [1, 'string'],
  conditions: [2, [podCondition]],
  message: [3, 'string'],
  reason: [4, 'string'],
  hostIP: [5, 'string'],
  podIP: [6, 'string'],
  startTime: [7, 'time'],
  containerStatuses: [8, [containerStatus]],
  qosClass: [9, 'string'],
  initContainerStatuses: [10, [containerStatus]],
  nominatedNodeName: [11, 'string'],
  podIPs: [12, [{ ip: [1, 'string'] }]],
  hostIPs: [16, [{ ip: [1, 'string'] }]],
  observedGeneration: [17, 'integer'],
};

/** Of a workload. */
export const podTemplate: BodyMessage = { metadata: [1, objectMeta], spec: [2, podSpec] };

export const pod: BodyMessage = { metadata: [1, objectMeta], spec: [2, podSpec], status: [3, podStatus] };
