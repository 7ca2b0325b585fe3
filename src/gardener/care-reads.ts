import { decodeMeta, decodeObject, optionalInteger, optionalObject, optionalString } from '../kubernetes/api/decode.ts';

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

/** Lease in the namespace of an extension that the extension renews as its heartbeat. */
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
