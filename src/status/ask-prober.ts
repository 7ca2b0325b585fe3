import type { ZodType } from 'zod';
import type { Call } from '../kubernetes/api/call.ts';
import { DecodeError } from '../kubernetes/api/decode.ts';
import { ApiError, ResponseError, errorText } from '../kubernetes/api/errors.ts';
import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import { readingCall } from '../kubernetes/api/list-call.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { trimEndOf } from '../kubernetes/api/trim-end.ts';
import { createKubeClient } from '../kubernetes/client/index.ts';
import { type Transport, createScope, createSecurity, createTransport } from '../kubernetes/transport/index.ts';
import type { CommandContext } from '../process/index.ts';
import { type ShootStatus, type ProberStatus, shootSchema, statusHeaderSchema } from './state/schema.ts';
import type { Replica } from './judge.ts';

/**
 * Limits of a response, which may come from somebody else: its bytes, those of one shoot without and with details, the number of shoots, and the entries of
 * all lists in a shoot. The schema checks every entry and keeps every issue: a MiB of `{}` cost it 700 MB.
 */
const most = {
  bytes: 16 * 1024 * 1024,
  rowBytes: 64 * 1024,
  detailBytes: 2 * 1024 * 1024,
  shoots: 10_000,
  entries: 20_000,
};

const countEntries = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const entries = Object.values(value) as readonly unknown[];
  const own = Array.isArray(value) ? entries.length : 0;
  return entries.reduce<number>((sum, entry) => sum + countEntries(entry), own);
};

/** Checks a part of a status. Throws a DecodeError that names the first invalid field. */
const check = <T>(schema: ZodType<T>, json: unknown, at = ''): T => {
  if (countEntries(json) > most.entries) throw new ResponseError(`more than ${String(most.entries)} entries`);
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = ['status', at, ...(issue?.path ?? [])].filter((step) => step !== '').join('.');
  throw new DecodeError(path, 'a status of schemaVersion 1', json);
};

/** Reads the shoots one by one, so that the first invalid one ends the reading. */
const statusAt = (path: string, shoot: string | undefined): Call<ProberStatus> =>
  readingCall(
    { path, query: shoot === undefined ? undefined : { shoot } },
    {
      key: 'shoots',
      bounds: {
        ...{ jsonBytes: most.bytes, protobufBytes: 0, pageItems: most.shoots, items: most.shoots },
        itemBytes: shoot === undefined ? most.rowBytes : most.detailBytes,
      },
      item: (json, at) => check(shootSchema, json, at),
      all: (shoots, header) => ({ ...check(statusHeaderSchema, header), shoots: shoots as readonly ShootStatus[] }),
    },
  );

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

/** Time after which a request through the proxy has a second one beside it, in milliseconds. */
const proxyHeadStartMs = 400;

/** Asks through the proxy and, if that fails or takes long, through a port that it forwards: a proxy may be forbidden, or a NetworkPolicy in its way. */
export const readStatusOfReplica =
  (context: CommandContext, namespace: string, replica: Pick<Replica, 'pod' | 'healthPort'>): ReadProberStatus =>
  async (shoot, options) => {
    const { client, clock, forward } = context;
    const scope = createScope({ signal: options.signal, clock });
    const { signal } = scope;
    const until = clock.monotonic() + (options.timeoutMs ?? 0);
    const proxied = readStatusOfPod(client, namespace, replica)(shoot, { ...options, signal });
    const late = clock.sleep(proxyHeadStartMs, signal).catch(() => undefined);
    const forwarded = Promise.race([proxied.catch(() => undefined), late]).then(async (early) => {
      if (early !== undefined) return early;
      const { pod, healthPort: port } = replica;
      const problems: unknown[] = [];
      try {
        const url = await forward(async () => ({ namespace, pod, port }), {
          signal,
          onProblem: (error) => problems.push(error),
        });
        const rest = { signal, timeoutMs: Math.max(1, until - clock.monotonic()) };
        return await readStatusFromUrl(url, context)(shoot, rest);
      } catch (error) {
        signal.throwIfAborted();
        const [reason = error] = problems;
        if (reason instanceof ApiError) throw reason;
        throw new ApiError({ code: 'ConnectionError', message: errorText(reason) });
      }
    });
    try {
      return await Promise.any([proxied, forwarded]);
    } catch (error) {
      throw bothReasons((error as AggregateError).errors as [Error, Error]);
    } finally {
      scope.fail(new Error('the prober has answered'));
    }
  };

/** Joins the reasons of both attempts in one sentence; on abort, returns its reason. */
const bothReasons = ([proxied, forwarded]: readonly [Error, Error]): Error => {
  if (!(proxied instanceof ApiError)) return proxied;
  if (!(forwarded instanceof ApiError)) return forwarded;
  const { code, message } = proxied;
  return new ApiError({ code, message: `${message}; through a forwarded port: ${forwarded.message}` });
};

/** Creates a transport to an address such as `http://127.0.0.1:9644`. */
export const transportTo = (url: URL, { clock, userAgent }: Pick<CommandContext, 'clock' | 'userAgent'>): Transport => {
  const isPlain = url.protocol === 'http:';
  const security = createSecurity({});
  return createTransport({
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
};

/** Sends requests directly to an address. */
const readStatusFromUrl =
  (url: URL, context: CommandContext): ReadProberStatus =>
  async (shoot, options) => {
    const { clock } = context;
    const transport = transportTo(url, context);
    try {
      return (await createKubeClient({ kube: transport, clock }).call(statusAt('/status', shoot), options)).value;
    } finally {
      transport.close();
    }
  };
