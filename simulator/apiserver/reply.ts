import type { KubeRequest } from '../../src/kubernetes/api/kube.ts';
import { protobufMediaType } from './kube-protobuf.ts';
import { StatusError } from './status.ts';

/** A complete response, before the common headers are added. */
export interface WholeReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text, or protobuf. */
  readonly body: string | Uint8Array;
}

const plainText = { 'content-type': 'text/plain; charset=utf-8' };

/** Response for paths outside of the API. */
export const nowhereReply: WholeReply = { status: 404, headers: plainText, body: '404 page not found\n' };

export const healthReply: WholeReply = { status: 200, headers: plainText, body: 'ok' };

export const jsonReply = (text: string): WholeReply => ({ status: 200, body: text });

export const protobufReply = (bytes: Uint8Array): WholeReply => ({
  status: 200,
  headers: { 'content-type': protobufMediaType },
  body: bytes,
});

/** Returns the response for a StatusError; rethrows all other errors. */
export const errorReply = (error: unknown): WholeReply => {
  if (!(error instanceof StatusError)) throw error;
  const { status } = error;
  return { status: status.code ?? 500, body: JSON.stringify(status) };
};

/** Returns a header of the request by its `name` in lower case. */
export const headerOf = (request: KubeRequest, name: string): string | undefined => {
  for (const [key, value] of Object.entries(request.headers ?? {})) if (key.toLowerCase() === name) return value;
  return undefined;
};
