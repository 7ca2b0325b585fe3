import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import { type GardenShoot, decodeGardenShoot } from '../gardener/care-shoots.ts';
import type { Condition } from '../gardener/condition.ts';
import { type Call, smallResponseBytes } from '../kubernetes/api/call.ts';
import type { JsonObject } from '../kubernetes/api/decode.ts';
import { type Lease, listNodeLeasesWithin } from '../kubernetes/api/lease.ts';
import { listCall, runBounds } from '../kubernetes/api/list-call.ts';
import { type TunnelPod, decodeTunnelPod } from '../kubernetes/api/pod.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';

/** A successful response of `/healthz`: its 2xx status and its body. */
export interface HealthzAnswer {
  readonly status: number;
  readonly body: string;
}

export const getHealthz: Call<HealthzAnswer> = {
  method: 'GET',
  path: '/healthz',
  bytes: smallResponseBytes,
  decode: (json) => ({ status: 200, body: JSON.stringify(json) }),
  text: (body, status) => ({ status, body }),
};

export const listNodeLeaseExpiries: Call<readonly Lease[]> = listNodeLeasesWithin(runBounds.leases);

/** Lists the pods at the shoot's end of the tunnel to its control plane. */
export const listTunnelPods: Call<readonly TunnelPod[]> = listCall({
  path: '/api/v1/namespaces/kube-system/pods',
  query: { labelSelector: 'type=tunnel' },
  kind: 'PodList',
  decode: decodeTunnelPod,
  nameOf: ({ name }) => name,
  bounds: runBounds.tunnelPods,
});

/** Field manager of our writes to Shoots. */
export const careFieldManager = 'dependency-watchdog-care';

const shootPath = ({ namespace, name }: NamespacedName): string =>
  resourcePath({ apiVersion: 'core.gardener.cloud/v1beta1', resource: 'shoots', namespace, name });

export const getGardenShoot = (at: NamespacedName): Call<GardenShoot> => ({
  method: 'GET',
  path: shootPath(at),
  decode: decodeGardenShoot,
});

const patchShoot = (path: string, body: JsonObject): Call<GardenShoot> => ({
  method: 'PATCH',
  path,
  query: { fieldManager: careFieldManager },
  contentType: 'application/merge-patch+json',
  repeatable: true,
  body,
  decode: decodeGardenShoot,
});

/** Replaces the conditions. Fails with a Conflict if the Shoot has changed since it was read. */
export const patchShootConditions = (
  { shoot, resourceVersion }: GardenShoot,
  conditions: readonly (JsonObject | Condition)[],
): Call<GardenShoot> =>
  patchShoot(`${shootPath(shoot)}/status`, { metadata: { resourceVersion }, status: { conditions } });

/** Sets labels, and removes those whose value is null. Fails with a Conflict if the Shoot has changed since it was read. */
export const patchShootLabels = (
  { shoot, resourceVersion }: GardenShoot,
  labels: Readonly<Record<string, string | null>>,
): Call<GardenShoot> => patchShoot(shootPath(shoot), { metadata: { resourceVersion, labels } });
