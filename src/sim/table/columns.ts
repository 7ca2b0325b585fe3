import { apiVersionOf, type SimKind } from '../kind.ts';
import * as cells from './cells.ts';
import { ageColumn, type Column, column, countAt, nameColumn, textAt, wide } from './column.ts';
import { customAge, customColumn } from './custom-columns.ts';
import { podGates, podIp, podReady, podRestarts, podStatus } from './pod-cells.ts';

const integer = (name: string, ...path: readonly string[]): Column => column(name, countAt(...path), 'integer');

const templateColumns = [wide('Containers', cells.containers('name')), wide('Images', cells.containers('image'))];

/** `AddHandlers` in https://github.com/kubernetes/kubernetes/blob/master/pkg/printers/internalversion/printers.go */
const builtIn: Readonly<Record<string, readonly Column[]>> = {
  'v1 Namespace': [nameColumn, column('Status', textAt(['status', 'phase'])), ageColumn],
  'v1 Secret': [nameColumn, column('Type', textAt(['type'])), column('Data', cells.entries('data')), ageColumn],
  'v1 ConfigMap': [nameColumn, column('Data', cells.entries('data', 'binaryData')), ageColumn],
  'v1 Node': [
    nameColumn,
    column('Status', cells.nodeStatus),
    column('Roles', cells.nodeRoles),
    ageColumn,
    column('Version', textAt(['status', 'nodeInfo', 'kubeletVersion'])),
    wide('Internal-IP', cells.nodeAddress('InternalIP')),
    wide('External-IP', cells.nodeAddress('ExternalIP')),
    wide('OS-Image', textAt(['status', 'nodeInfo', 'osImage'], '<unknown>')),
    wide('Kernel-Version', cells.nodeKernel),
    wide('Container-Runtime', textAt(['status', 'nodeInfo', 'containerRuntimeVersion'], '<unknown>')),
  ],
  'v1 Pod': [
    nameColumn,
    column('Ready', podReady),
    column('Status', podStatus),
    column('Restarts', podRestarts),
    ageColumn,
    wide('IP', podIp),
    wide('Node', textAt(['spec', 'nodeName'], '<none>')),
    wide('Nominated Node', textAt(['status', 'nominatedNodeName'], '<none>')),
    wide('Readiness Gates', podGates),
  ],
  'v1 Service': [
    nameColumn,
    column('Type', textAt(['spec', 'type'])),
    column('Cluster-IP', cells.serviceClusterIp),
    column('External-IP', cells.serviceExternalIp),
    column('Port(s)', cells.servicePorts),
    ageColumn,
    wide('Selector', cells.serviceSelector),
  ],
  'v1 Endpoints': [nameColumn, column('Endpoints', cells.endpoints), ageColumn],
  'v1 Event': [
    column('Last Seen', cells.event.lastSeen),
    column('Type', textAt(['type'])),
    column('Reason', textAt(['reason'])),
    column('Object', cells.event.object),
    wide('Subobject', textAt(['involvedObject', 'fieldPath'])),
    wide('Source', cells.event.source),
    column('Message', cells.event.message),
    wide('First Seen', cells.event.firstSeen),
    wide('Count', cells.event.count),
    { ...nameColumn, priority: 1 },
  ],
  'coordination.k8s.io/v1 Lease': [nameColumn, column('Holder', textAt(['spec', 'holderIdentity'])), ageColumn],
  'apps/v1 Deployment': [
    nameColumn,
    column('Ready', cells.readyOfWanted),
    column('Up-to-date', countAt('status', 'updatedReplicas')),
    column('Available', countAt('status', 'availableReplicas')),
    ageColumn,
    ...templateColumns,
    wide('Selector', cells.workloadSelector('')),
  ],
  'apps/v1 StatefulSet': [nameColumn, column('Ready', cells.readyOfWanted), ageColumn, ...templateColumns],
  'apps/v1 ReplicaSet': [
    nameColumn,
    integer('Desired', 'spec', 'replicas'),
    integer('Current', 'status', 'replicas'),
    integer('Ready', 'status', 'readyReplicas'),
    ageColumn,
    ...templateColumns,
    wide('Selector', cells.workloadSelector('<none>')),
  ],
  'discovery.k8s.io/v1 EndpointSlice': [
    nameColumn,
    column('AddressType', textAt(['addressType'])),
    column('Ports', cells.slicePorts),
    column('Endpoints', cells.sliceEndpoints),
    ageColumn,
  ],
};

/** The columns of a Table of `kind`, in the order in which they are shown. */
export const columnsOf = (kind: SimKind): readonly Column[] => {
  if (!kind.custom) return builtIn[`${apiVersionOf(kind)} ${kind.kind}`] ?? [nameColumn, ageColumn];
  const columns = kind.printerColumns.length === 0 ? [customAge] : kind.printerColumns;
  return [nameColumn, ...columns.map(customColumn)];
};

/** The columns of the Scale of an object of `kind`. */
export const scaleColumns = ({ custom }: SimKind): readonly Column[] => [
  { ...nameColumn, format: custom ? 'name' : '' },
  integer('Desired', 'spec', 'replicas'),
  integer('Available', 'status', 'replicas'),
  custom ? { ...ageColumn, type: 'date' } : ageColumn,
];
