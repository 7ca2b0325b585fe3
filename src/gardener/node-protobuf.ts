import type { ProtobufKind } from '../kubernetes/api/list-call.ts';
import {
  type MessageFields,
  count,
  entry,
  flag,
  flat,
  list,
  message,
  stringMap,
  text,
  time,
  word,
} from '../kubernetes/protobuf/index.ts';

/** Annotation of a node that machine-controller-manager must not manage. */
export const notManagedByMcm = 'node.machine.sapcloud.io/not-managed-by-mcm';
/** Label whose value is the name of a node's worker pool. */
export const poolLabel = 'worker.gardener.cloud/pool';

// Fields of a Node that are read from protobuf (k8s.io/api `core/v1/generated.proto`). All others, such as the list of images, are skipped.

const conditionType = word('type', ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']);
const conditionStatus = word('status', ['True', 'False', 'Unknown']);

const metadata: MessageFields = {
  1: text('name'),
  3: text('namespace'),
  5: text('uid'),
  6: text('resourceVersion'),
  7: count('generation'),
  9: time('deletionTimestamp'),
  11: stringMap('labels'),
  12: stringMap('annotations'),
};

const condition: MessageFields = {
  1: conditionType,
  2: conditionStatus,
  4: time('lastTransitionTime'),
  5: text('reason'),
  6: text('message'),
};

/** A Node with the fields that health checks read, in the shape of its JSON. */
export const nodeHealthFields: Omit<ProtobufKind<object>, 'project'> = {
  apiVersion: 'v1',
  fields: {
    1: message('metadata', metadata),
    2: message('spec', { 4: flag('unschedulable') }),
    3: message('status', { 4: list('conditions', condition), 7: message('nodeInfo', { 7: text('kubeletVersion') }) }),
  },
  empty: () => ({}),
};

/** Type, status and reason of each condition of a Node. */
export const probedStatus = flat({
  4: list('conditions', { 1: conditionType, 2: conditionStatus, 5: text('reason') }, () => ({
    type: '',
    status: '',
    reason: '',
  })),
});

/** A Node with only the fields that a probe reads. */
export const probedNodeFields: Omit<ProtobufKind<object>, 'project'> = {
  apiVersion: 'v1',
  fields: {
    1: flat({ 1: text('name'), 11: entry('pool', poolLabel), 12: entry('notManaged', notManagedByMcm) }),
    3: probedStatus,
  },
  empty: (): NodeParts => ({ name: '', pool: undefined, notManaged: undefined, conditions: [] }),
};

/** The fields of a Node that a probe reads. */
export interface NodeParts {
  readonly name: string;
  readonly pool: string | undefined;
  /** Value of the annotation `not-managed-by-mcm`. */
  readonly notManaged: string | undefined;
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string | undefined;
    readonly reason: string | undefined;
  }[];
}
