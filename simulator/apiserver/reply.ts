import type { KubeRequest } from '../../src/kubernetes/api/kube.ts';
import { protobufMediaType } from './kube-protobuf.ts';
import { StatusError } from './status.ts';

/** A complete response, before the common headers are added. */
export interface WholeReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A complete response in protobuf. */
export interface ProtobufReply extends Omit<WholeReply, 'text'> {
  readonly bytes: Uint8Array;
}

const plainText = { 'content-type': 'text/plain; charset=utf-8' };

/** Response for paths outside of the API. */
export const nowhereReply: WholeReply = { status: 404, headers: plainText, text: '404 page not found\n' };

export const healthReply: WholeReply = { status: 200, headers: plainText, text: 'ok' };

export const jsonReply = (text: string): WholeReply => ({ status: 200, text });

export const protobufReply = (bytes: Uint8Array): ProtobufReply => ({
  status: 200,
  headers: { 'content-type': protobufMediaType },
  bytes,
});

/** Returns the response for a StatusError; rethrows all other errors. */
export const errorReply = (error: unknown): WholeReply => {
  if (!(error instanceof StatusError)) throw error;
  const { status } = error;
  return { status: status.code ?? 500, text: JSON.stringify(status) };
};

/** Returns a header of the request by its `name` in lower case. */
export const headerOf = (request: KubeRequest, name: string): string | undefined => {
  for (const [key, value] of Object.entries(request.headers ?? {})) if (key.toLowerCase() === name) return value;
  return undefined;
};
