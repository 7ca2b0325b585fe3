import type { Call } from '../kubernetes/api/call.ts';
import {
  checkName,
  decodeMeta,
  decodeObject,
  decodeString,
  optionalList,
  optionalObject,
} from '../kubernetes/api/decode.ts';
import { listCall, nodeListBounds, nodePageSize } from '../kubernetes/api/list-call.ts';
import type { ProtobufKind } from '../kubernetes/api/list-call.ts';
import { entry, flat, list, text, time } from '../kubernetes/protobuf/index.ts';
import { type NodeParts, type NodeView, decodeProbedConditions, probedStatus } from './node.ts';

/**
 * Taints of nodes that nobody expects to renew their leases: cluster-autoscaler is about to remove the node (`ToBeDeletedTaint` in
 * https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/utils/taints/taints.go), or an operator has said that it is shut down
 * (`TaintNodeOutOfService` in k8s.io/api `core/v1/well_known_taints.go`).
 */
const taintsOfLeaving: ReadonlySet<string> = new Set([
  'ToBeDeletedByClusterAutoscaler',
  'node.kubernetes.io/out-of-service',
]);

/** Annotation with which an operator says that a node is off by plan: `"true"`. */
const ignoreNodeAnnotation = 'dependency-watchdog.gardener.cloud/ignore-node';

interface Parts extends Pick<NodeParts, 'name' | 'conditions'> {
  readonly deletionTimestamp?: string;
  /** Value of `ignoreNodeAnnotation`. */
  readonly ignore?: string;
  readonly taints: readonly { readonly key: string }[];
}

const viewOf = ({ name, conditions, deletionTimestamp, ignore, taints }: Parts): NodeView => ({
  name,
  managedByMcm: false,
  trueConditions: new Set(conditions.flatMap(({ type, status }) => (status === 'True' ? [type] : []))),
  inPlaceUpdate: false,
  leaving: deletionTimestamp !== undefined || ignore === 'true' || taints.some(({ key }) => taintsOfLeaving.has(key)),
});

/** Decodes a Node (`v1`) of a cluster without Machines of MCM: its deletion is read from the node itself. */
export const decodePlainNode = (json: unknown, path: string): NodeView => {
  const object = decodeObject(json, path);
  const { name, deleting, annotations } = decodeMeta(object, path);
  const spec = optionalObject(object.spec, `${path}.spec`) ?? {};
  const status = optionalObject(object.status, `${path}.status`) ?? {};
  const taints = (optionalList(spec.taints, `${path}.spec.taints`) ?? []).map((item, index) => {
    const at = `${path}.spec.taints[${String(index)}]`;
    return { key: decodeString(decodeObject(item, at).key, `${at}.key`) };
  });
  const conditions = decodeProbedConditions(status, `${path}.status`);
  const ignore = annotations[ignoreNodeAnnotation];
  return viewOf({ name, conditions, taints, ignore, ...(deleting ? { deletionTimestamp: 'set' } : {}) });
};

/** Fields that are read from protobuf (k8s.io/api `core/v1/generated.proto`). */
export const plainNodeFields: Omit<ProtobufKind<object>, 'project'> = {
  apiVersion: 'v1',
  fields: {
    1: flat({ 1: text('name'), 9: time('deletionTimestamp'), 12: entry('ignore', ignoreNodeAnnotation) }),
    2: flat({ 5: list('taints', { 1: text('key') }, () => ({ key: '' })) }),
    3: probedStatus,
  },
  empty: (): Parts => ({ name: '', taints: [], conditions: [] }),
};

export const listPlainNodes: Call<readonly NodeView[]> = listCall({
  path: '/api/v1/nodes',
  kind: 'NodeList',
  pageSize: nodePageSize,
  decode: decodePlainNode,
  protobuf: { ...plainNodeFields, project: (draft, path) => viewOf(checkName(draft as Parts, path)) },
  nameOf: ({ name }) => name,
  bounds: nodeListBounds,
});
