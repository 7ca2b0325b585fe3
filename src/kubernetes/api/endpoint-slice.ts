import { decodeMeta, decodeObject, optionalBoolean, optionalList, optionalObject } from './decode.ts';

/** Label of an EndpointSlice that holds the name of its Service (`discovery/v1`, LabelServiceName). */
export const serviceNameLabel = 'kubernetes.io/service-name';

/** Label of an EndpointSlice that names its writer (`discovery/v1`, LabelManagedBy). */
const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
/** ControllerName in k8s.io/kubernetes/pkg/controller/endpointslicemirroring. */
const mirroringController = 'endpointslicemirroring-controller.k8s.io';

/** An EndpointSlice as the weeder sees it. */
export interface EndpointSliceView {
  readonly namespace: string;
  /** Empty if it belongs to no Service. */
  readonly service: string;
  /** True if the slice is copied from an Endpoints object. */
  readonly mirrored: boolean;
  /** True if some endpoint is ready and not terminating. */
  readonly ready: boolean;
}

/** An absent `ready` means ready, an absent `terminating` means not terminating (EndpointConditions in k8s.io/api/discovery/v1). */
const isReady = (endpoint: unknown, path: string): boolean => {
  const where = `${path}.conditions`;
  const conditions = optionalObject(decodeObject(endpoint, path).conditions, where) ?? {};
  const ready = optionalBoolean(conditions.ready, `${where}.ready`) ?? true;
  return ready && optionalBoolean(conditions.terminating, `${where}.terminating`) !== true;
};

export const decodeEndpointSlice = (json: unknown, path: string): EndpointSliceView => {
  const object = decodeObject(json, path);
  const { namespace, labels } = decodeMeta(object, path);
  const endpoints = optionalList(object.endpoints, `${path}.endpoints`) ?? [];
  const ready = endpoints.map((endpoint, index) => isReady(endpoint, `${path}.endpoints[${String(index)}]`));
  return {
    namespace,
    service: labels[serviceNameLabel] ?? '',
    mirrored: labels[managedByLabel] === mirroringController,
    ready: ready.includes(true),
  };
};
