import type { Form } from './entry.ts';
import { protobufMediaType } from './kube-protobuf.ts';
import { StatusError } from './status.ts';

interface MediaRange {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

const parseRange = (text: string): MediaRange => {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters: Record<string, string> = {};
  for (const part of rest) {
    const [key = '', value = ''] = part.split('=').map((piece) => piece.trim());
    parameters[key.toLowerCase()] = value;
  }
  return { type: type.toLowerCase(), parameters, quality: Number(parameters.q ?? '1') || 0 };
};

const formOf = (range: MediaRange, protobuf: boolean): Form | undefined => {
  if (range.type === protobufMediaType && range.parameters.as === undefined) return protobuf ? 'protobuf' : undefined;
  if (range.type !== 'application/json' && range.type !== '*/*') return undefined;
  const { as } = range.parameters;
  if (as === undefined) return 'object';
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList' ? 'metadata' : undefined;
};

const offered = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';

/** Built-in kinds are refused by the HTTP framework, custom ones by the API machinery. */
const refuse = (code: 406 | 415, custom: boolean, message: string): StatusError => {
  const reason = code === 406 ? 'NotAcceptable' : 'UnsupportedMediaType';
  if (custom) return new StatusError({ code, reason, message });
  const words =
    code === 406 ? `406: Not Acceptable\n\nAvailable representations: ${offered}` : '415: Unsupported Media Type';
  return new StatusError({ code, reason, message: words, details: {} });
};

export interface Offer {
  /** Of a custom kind. */
  readonly custom: boolean;
  /** Also in protobuf. */
  readonly protobuf: boolean;
}

/**
 * What an Accept header asks for, among what the simulator has: JSON, whole or metadata only, and protobuf where it is offered. YAML and
 * Table are passed over, so they need JSON as a second choice. Throws a NotAcceptable StatusError (406) when nothing is left.
 */
export const formAccepted = (accept: string | undefined, { custom, protobuf }: Offer): Form => {
  if (accept === undefined || accept.trim() === '') return 'object';
  const ranges = accept.split(',').map(parseRange);
  for (const range of ranges.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality)) {
    const form = formOf(range, protobuf);
    if (form !== undefined) return form;
  }
  throw refuse(406, custom, `only the following media types are accepted: ${offered}`);
};

const mediaType = (contentType: string | undefined): string =>
  (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

const unknownFormat = (accepted: string): string =>
  `the body of the request was in an unknown format - accepted media types include: ${accepted}`;

/** Throws UnsupportedMediaType (415) unless a body of JSON is announced; no announcement counts as JSON. */
export const checkJsonBody = (contentType: string | undefined): void => {
  const type = mediaType(contentType);
  if (type === '' || type === 'application/json') return;
  throw refuse(415, true, unknownFormat(offered));
};

export type PatchKind = 'merge' | 'json' | 'strategic';

const patchKinds: Readonly<Record<string, PatchKind>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
};

/** Throws UnsupportedMediaType (415) for anything but the patch types of the kind; server-side apply is not simulated. */
export const patchKindOf = (contentType: string | undefined, custom: boolean): PatchKind => {
  const found = patchKinds[mediaType(contentType)];
  if (found !== undefined && !(custom && found === 'strategic')) return found;
  const accepted = 'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml';
  throw refuse(415, custom, unknownFormat(accepted));
};
