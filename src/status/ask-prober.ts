import type { Call } from '../kubernetes/api/call.ts';
import { DecodeError } from '../kubernetes/api/decode.ts';
import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { trimEndOf } from '../kubernetes/api/trim-end.ts';
import { createKubeClient } from '../kubernetes/client/index.ts';
import { createSecurity, createTransport } from '../kubernetes/transport/index.ts';
import type { Clock } from '../ports/clock.ts';
import { type ProberStatus, statusSchema } from '../prober/status/index.ts';
import type { Replica } from './seed-status.ts';

/** Maximum size of a response, enough for 10,000 shoots. */
const mostBytes = 32 * 1024 * 1024;

/** Decodes a status. Throws a DecodeError that names the first invalid field. */
const decodeStatus = (json: unknown): ProberStatus => {
  const parsed = statusSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new DecodeError(['status', ...(issue?.path ?? [])].join('.'), 'a status of schemaVersion 1', json);
};

const statusAt = (path: string, shoot: string | undefined): Call<ProberStatus> => ({
  method: 'GET',
  path,
  ...(shoot === undefined ? {} : { query: { shoot } }),
  bytes: mostBytes,
  decode: decodeStatus,
});

/** Requests the status of one prober. With `shoot`, a namespace, only that of its shoots, with details. Rejects with an ApiError. */
export type ReadProberStatus = (shoot: string | undefined, options: CallOptions) => Promise<ProberStatus>;

/** Sends requests through the API server's proxy for pods (`pods/proxy`, verb `get`). */
export const readStatusOfPod =
  (client: KubeClient, namespace: string, { pod, healthPort }: Pick<Replica, 'pod' | 'healthPort'>): ReadProberStatus =>
  async (shoot, options) => {
    const at = resourcePath({ apiVersion: 'v1', resource: 'pods', namespace, name: pod });
    const path = `${at}:${String(healthPort)}/proxy/status`;
    return (await client.call(statusAt(path, shoot), options)).value;
  };

export interface UrlDeps {
  readonly clock: Clock;
  readonly userAgent: string;
}

/** Sends requests directly to an address such as `http://127.0.0.1:9644`. */
export const readStatusFromUrl =
  (url: URL, { clock, userAgent }: UrlDeps): ReadProberStatus =>
  async (shoot, options) => {
    const isPlain = url.protocol === 'http:';
    const security = createSecurity({});
    const transport = createTransport({
      endpoint: {
        protocol: isPlain ? 'http:' : 'https:',
        host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: url.port === '' ? (isPlain ? 80 : 443) : Number(url.port),
        basePath: trimEndOf(url.pathname, '/'),
      },
      security: async () => security,
      clock,
      userAgent,
    });
    try {
      return (await createKubeClient({ kube: transport, clock }).call(statusAt('/status', shoot), options)).value;
    } finally {
      transport.close();
    }
  };
