import { objectMeta, objectReference } from './meta.ts';
import type { BodyMessage } from './read.ts';

export const service: BodyMessage = {
  metadata: [1, objectMeta],
  spec: [
    2,
    {
      ports: [
        1,
        [
          {
            name: [1, 'string'],
            protocol: [2, 'string'],
            port: [3, 'integer'],
            targetPort: [4, 'intOrString'],
            nodePort: [5, 'integer'],
            appProtocol: [6, 'string', 'kept'],
          },
        ],
      ],
      selector: [2, 'stringMap'],
      clusterIP: [3, 'string'],
      type: [4, 'string'],
      externalIPs: [5, 'strings'],
      sessionAffinity: [7, 'string'],
      externalName: [10, 'string'],
      publishNotReadyAddresses: [13, 'bool'],
      ipFamilyPolicy: [17, 'string'],
      clusterIPs: [18, 'strings'],
      ipFamilies: [19, 'strings'],
      internalTrafficPolicy: [22, 'string'],
    },
  ],
  status: [3, { loadBalancer: [1, {}] }],
};

export const endpointSlice: BodyMessage = {
  metadata: [1, objectMeta],
  endpoints: [
    2,
    [
      {
        addresses: [1, 'strings'],
        conditions: [
          2,
          { ready: [1, 'bool', 'kept'], serving: [2, 'bool', 'kept'], terminating: [3, 'bool', 'kept'] },
          'kept',
        ],
        hostname: [3, 'string', 'kept'],
        targetRef: [4, objectReference],
        nodeName: [6, 'string', 'kept'],
        zone: [7, 'string', 'kept'],
      },
    ],
  ],
  ports: [
    3,
    [
      {
        name: [1, 'string', 'kept'],
        protocol: [2, 'string', 'kept'],
        port: [3, 'integer', 'kept'],
        appProtocol: [4, 'string', 'kept'],
      },
    ],
  ],
  addressType: [4, 'string'],
};

export const event: BodyMessage = {
  metadata: [1, objectMeta],
  involvedObject: [2, objectReference],
  reason: [3, 'string'],
  message: [4, 'string'],
  source: [5, { component: [1, 'string'], host: [2, 'string'] }],
  firstTimestamp: [6, 'time'],
  lastTimestamp: [7, 'time'],
  count: [8, 'integer'],
  type: [9, 'string'],
  eventTime: [10, 'microTime'],
  series: [11, { count: [1, 'integer'], lastObservedTime: [2, 'microTime'] }],
  action: [12, 'string'],
  related: [13, objectReference],
  reportingComponent: [14, 'string'],
  reportingInstance: [15, 'string'],
};
