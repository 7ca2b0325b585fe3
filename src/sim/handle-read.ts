import type { Clock, KubeRequest } from '../ports/index.ts';
import { type Entry, entryProtobuf, entryText, type Form } from './entry.ts';
import { followExchange, untilAborted } from './exchange.ts';
import { apiVersionOf, type SimKind } from './kind.ts';
import { protobufEnvelope } from './kube-protobuf.ts';
import { listBody } from './list.ts';
import { type ListOptions, parseResourceVersion } from './read-options.ts';
import { jsonReply, type ProtobufReply, protobufReply, type Reply } from './reply.ts';
import { checkScalable, scaleOf } from './scale.ts';
import { notFound, tooLargeResourceVersion, unknownResource } from './status.ts';
import type { Storage } from './storage.ts';

export interface ReadHost {
  readonly storage: Storage;
  readonly clock: Clock;
}

/** An object, or a subresource of it, as a path names it. */
export interface ObjectTarget {
  readonly kind: SimKind;
  readonly namespace: string;
  readonly name: string;
  readonly subresource?: string;
}

export interface CollectionTarget {
  readonly kind: SimKind;
  readonly namespace?: string;
}

/** How long a read waits for a resourceVersion that is not there yet; `blockTimeout` in k8s.io/apiserver's watch cache. */
const freshnessTimeoutMs = 3_000;

/** Throws a NotFound StatusError. */
export const findEntry = (storage: Storage, target: ObjectTarget): Entry => {
  const entry = storage.collection(target.kind).get(target.namespace, target.name);
  if (entry === undefined) throw notFound(target.kind, target.name);
  return entry;
};

/** Custom kinds answer for a subresource they have not as if the object were not there. */
export const missingPart = (kind: SimKind, name: string): Error =>
  kind.custom ? notFound(kind, name) : unknownResource();

/** Waits until the store is at `revision`, for three seconds at most; then throws the Timeout StatusError of the real server. */
const whenFresh = async (host: ReadHost, request: KubeRequest, revision: number): Promise<void> => {
  const { storage, clock } = host;
  if (revision <= storage.revision) return;
  const exchange = followExchange(clock, request);
  try {
    await untilAborted(exchange.signal, clock.sleep(freshnessTimeoutMs, exchange.signal));
  } finally {
    exchange.finish();
  }
  if (revision > storage.revision) throw tooLargeResourceVersion(revision, storage.revision);
};

/** GET of an object or a subresource. */
export const readObject = async (
  host: ReadHost,
  request: KubeRequest,
  selected: { readonly target: ObjectTarget; readonly view: Form },
): Promise<Reply | ProtobufReply> => {
  const { target, view } = selected;
  const { kind, subresource } = target;
  await whenFresh(host, request, parseResourceVersion(request.query?.resourceVersion) ?? 0);
  if (subresource === 'scale' && kind.scale !== undefined) {
    const entry = findEntry(host.storage, target);
    checkScalable(entry, kind.scale);
    return jsonReply(JSON.stringify(scaleOf(entry, kind.scale)));
  }
  if (subresource !== undefined && !(subresource === 'status' && kind.status)) throw missingPart(kind, target.name);
  const entry = findEntry(host.storage, target);
  const message = view === 'protobuf' ? entryProtobuf(entry) : undefined;
  if (message === undefined) return jsonReply(entryText(entry, view));
  return protobufReply(protobufEnvelope({ apiVersion: apiVersionOf(kind), kind: kind.kind }, message));
};

/** GET of a collection, but for watches. */
export const readList = async (
  host: ReadHost,
  request: KubeRequest,
  selected: { readonly target: CollectionTarget; readonly options: ListOptions; readonly view: Form },
): Promise<Reply | ProtobufReply> => {
  const { target, options, view } = selected;
  await whenFresh(host, request, options.resourceVersion ?? 0);
  const body = listBody(host.storage, { ...target, options, view });
  return typeof body === 'string' ? jsonReply(body) : protobufReply(body);
};
