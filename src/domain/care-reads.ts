import { decodeMeta, decodeObject, optionalInteger, optionalObject, optionalString } from './decode.ts';
import { type HealthView, decodeParts } from './health-objects.ts';
import { isHeld } from './scaling.ts';

/** A Deployment of a control plane. */
export interface CareDeployment extends HealthView {
  /** Value of the label `gardener.cloud/role`; empty where it is missing. */
  readonly role: string;
  /** `spec.replicas`; 1 where the spec does not say. */
  readonly replicas: number;
  /** Scaled down by the prober. */
  readonly isHeld: boolean;
}

export const decodeCareDeployment = (json: unknown, path: string): CareDeployment => {
  const { view, spec } = decodeParts(json, path);
  return {
    ...view,
    role: view.meta.labels['gardener.cloud/role'] ?? '',
    replicas: optionalInteger(spec.replicas, `${path}.spec.replicas`) ?? 1,
    isHeld: isHeld(view.meta),
  };
};

/** A node Lease (`coordination.k8s.io/v1`, namespace `kube-node-lease`); it bears its node's name. */
export interface NodeLease {
  readonly name: string;
  /** Milliseconds since the epoch; -Infinity when it never was renewed. */
  readonly expiresAt: number;
}

export const decodeNodeLease = (json: unknown, path: string): NodeLease => {
  const object = decodeObject(json, path);
  const spec = optionalObject(object.spec, `${path}.spec`) ?? {};
  const renewedAt = Date.parse(optionalString(spec.renewTime, `${path}.spec.renewTime`) ?? '');
  const seconds = optionalInteger(spec.leaseDurationSeconds, `${path}.spec.leaseDurationSeconds`) ?? 0;
  return {
    name: decodeMeta(object, path).name,
    expiresAt: Number.isNaN(renewedAt) ? Number.NEGATIVE_INFINITY : renewedAt + seconds * 1_000,
  };
};

/** A pod of the shoot that is an end of the tunnel to its control plane. */
export interface TunnelPod {
  readonly name: string;
  /** Value of the label `app`; empty where it is missing. */
  readonly app: string;
  readonly running: boolean;
}

export const decodeTunnelPod = (json: unknown, path: string): TunnelPod => {
  const object = decodeObject(json, path);
  const { name, labels } = decodeMeta(object, path);
  const status = optionalObject(object.status, `${path}.status`) ?? {};
  return { name, app: labels.app ?? '', running: optionalString(status.phase, `${path}.status.phase`) === 'Running' };
};

/** Where an extension says that it is alive: of the Lease `gardener-extension-heartbeat` of its namespace. */
export const heartbeatLeaseName = 'gardener-extension-heartbeat';

export interface Heartbeat {
  /** Milliseconds since the epoch; undefined when there was none. */
  readonly renewedAt: number | undefined;
}

export const decodeHeartbeat = (json: unknown, path: string): Heartbeat => {
  const spec = optionalObject(decodeObject(json, path).spec, `${path}.spec`) ?? {};
  const renewedAt = Date.parse(optionalString(spec.renewTime, `${path}.spec.renewTime`) ?? '');
  return { renewedAt: Number.isNaN(renewedAt) ? undefined : renewedAt };
};
