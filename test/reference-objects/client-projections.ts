import { reviewAccess } from '../../src/kubernetes/api/access.ts';
import { decodeMeta, decodeObject } from '../../src/kubernetes/api/decode.ts';
import type { Kube, KubeClient } from '../../src/kubernetes/api/kube.ts';
import { listInto } from '../../src/kubernetes/cache/list-into.ts';
import { ObjectCache } from '../../src/kubernetes/cache/object-cache.ts';
import { watchOnce } from '../../src/kubernetes/cache/watch.ts';
import { listVersions, resolveKind } from '../../src/kubernetes/client/discovery.ts';
import { nextToken } from '../../src/kubernetes/client/json-list.ts';
import { statusError } from '../../src/kubernetes/client/status-error.ts';
import { parseCredential } from '../../src/kubernetes/kubeconfig/exec-plugin.ts';
import { getElectionLease } from '../../src/kubernetes/leaderelection/election-calls.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createRecordingLogger } from '../doubles/recording-logger.ts';
import type { Projection } from './projection.ts';

const { signal } = new AbortController();
const path = '/api/v1/secrets';
const text = '"the reference object"';

/** Makes JSON.parse return `object` for the text above, because a recorder that wraps an object cannot be passed as text. */
const whileParsed = async <T>(object: unknown, run: () => T | Promise<T>): Promise<T> => {
  const { parse } = JSON;
  JSON.parse = (given: string): unknown => (given.trim() === text ? object : parse(given));
  try {
    return await run();
  } finally {
    JSON.parse = parse;
  }
};

const kube: Kube = {
  request: async () => {
    await Promise.resolve();
    const body = async function* (): AsyncGenerator<Uint8Array> {
      await Promise.resolve();
      yield Buffer.from(`${text}\n`);
    };
    return { status: 200, headers: { 'content-type': 'application/json' }, body: body() };
  },
};

const clientThatAnswers = (json: unknown): KubeClient => ({
  call: (call) => Promise.resolve({ value: call.decode(json), sentAt: 0, receivedAt: 0 }),
});

const watched = async (): Promise<unknown> => {
  const nothing = (): void => undefined;
  const events = watchOnce({
    kube,
    clock: createVirtualClock(),
    signal,
    path,
    query: {},
    kind: 'Secret',
    resourceVersion: '1',
    timeoutSeconds: 1,
    onOpen: nothing,
    onHeard: nothing,
  });
  for await (const { resourceVersion } of events) return resourceVersion;
  return undefined;
};

/** Projections with which the client reads the parts that all responses have. */
export const clientProjections: readonly Projection[] = [
  {
    name: 'Lease of a leader election',
    kind: 'LeaseList',
    project: (json) => {
      const { items } = json as { readonly items: readonly unknown[] };
      const { object: _whole, ...lease } = getElectionLease({ namespace: 'ns', name: 'name' }).decode(items[0]);
      return lease;
    },
  },
  {
    name: 'review of a right',
    kind: 'SelfSubjectAccessReview',
    project: reviewAccess({ verb: 'get', group: '', resource: 'pods' }).decode,
  },
  {
    name: 'discovery of a kind',
    kind: 'APIResourceList',
    project: (json) =>
      resolveKind(clientThatAnswers(json), { apiVersion: 'v1', kind: 'resources[].kind' }, { signal, timeoutMs: 1 }),
  },
  {
    name: 'discovery of the versions of a group',
    kind: 'APIGroup',
    project: (json) => listVersions(clientThatAnswers(json), 'group', { signal, timeoutMs: 1 }),
  },
  {
    name: 'Status of a refusal',
    kind: 'Status',
    project: (json) => {
      const { code, message, retryAfterMs } = statusError({ method: 'GET', path, httpStatus: 500, json });
      return { code, message, retryAfterMs };
    },
  },
  {
    name: 'Status of a resource version from another life',
    kind: 'Status',
    project: (json) => statusError({ method: 'GET', path, httpStatus: 500, json }).code,
    set: { 'details.causes[].reason': 'ResourceVersionTooLarge' },
  },
  {
    name: 'object in a cache',
    kind: 'Secret',
    project: (json) => {
      const logger = createRecordingLogger();
      const cache = new ObjectCache((object) => decodeMeta(decodeObject(object, ''), '').uid, logger);
      cache.set(decodeObject(json, 'object'));
      return [...cache.entries()];
    },
  },
  {
    name: 'page of a list',
    kind: 'LeaseList',
    project: (json) => {
      const cache = new ObjectCache((object) => decodeMeta(decodeObject(object, ''), '').uid, createRecordingLogger());
      const { commit, ...listed } = listInto(cache, { path, query: {}, pageSize: 1 }).decode(json);
      commit();
      return [listed, ...cache.entries()];
    },
  },
  {
    name: 'end of a page',
    kind: 'LeaseList',
    project: (json) => nextToken(decodeObject(json, 'list')),
  },
  {
    name: 'event of a watch',
    kind: 'WatchEvent',
    project: (json) => whileParsed(json, watched),
    set: { type: 'ADDED' },
  },
  {
    name: 'error of a watch',
    kind: 'Status',
    project: (json) => whileParsed({ type: 'ERROR', object: json }, () => watched().catch(String)),
  },
  {
    name: 'credential of a plugin',
    kind: 'ExecCredential',
    project: (json) => whileParsed(json, () => parseCredential(text, 'client.authentication.k8s.io/v1')),
  },
];
