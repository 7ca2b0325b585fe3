import { protobufMediaType } from './kube-protobuf.ts';
import { StatusError } from './status.ts';
import type { Form } from './entry.ts';

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

const formOf = ({ type, parameters }: MediaRange, { protobuf }: Offer): Form | undefined => {
  const { as } = parameters;
  if (type === protobufMediaType && as === undefined) return protobuf ? 'protobuf' : undefined;
  if (type !== 'application/json' && type !== '*/*') return undefined;
  if (as === undefined) return 'object';
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList' ? 'metadata' : undefined;
};

const offeredTypes = ['application/json', 'application/yaml', protobufMediaType];
const offered = offeredTypes.join(', ');

/** Built-in kinds are refused by the HTTP framework where it knows no media type of it, all else by the API machinery. */
const refuse = (code: 406 | 415, framework: boolean, message: string): StatusError => {
  const reason = code === 406 ? 'NotAcceptable' : 'UnsupportedMediaType';
  if (!framework) return new StatusError({ code, reason, message });
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
 * What an Accept header asks for, among what the simulator has: JSON, as whole objects or their metadata only, and protobuf where it is
 * offered. YAML is passed over, so it needs JSON as a second choice. Throws a NotAcceptable StatusError (406) when nothing is left.
 */
export const formAccepted = (accept: string | undefined, offer: Offer): Form => {
  if (accept === undefined || accept.trim() === '') return 'object';
  const ranges = accept.split(',').map(parseRange);
  for (const range of ranges.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality)) {
    const form = formOf(range, offer);
    if (form !== undefined) return form;
  }
  const isKnown = ranges.some(({ type }) => type === '*/*' || offeredTypes.includes(type));
  throw refuse(406, !offer.custom && !isKnown, `only the following media types are accepted: ${offered}`);
};

const mediaType = (contentType: string | undefined): string =>
  (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

const unknownFormat = (accepted: string): string =>
  `the body of the request was in an unknown format - accepted media types include: ${accepted}`;

/** A body must be JSON; no announcement counts as JSON. Throws UnsupportedMediaType (415) for all others, YAML and protobuf among them. */
export const checkBodyFormat = (contentType: string | undefined): void => {
  const type = mediaType(contentType);
  if (type !== '' && type !== 'application/json') throw refuse(415, false, unknownFormat(offered));
};

/** Throws UnsupportedMediaType (415) for all patches but merge patches. */
export const checkPatchFormat = (contentType: string | undefined, custom: boolean): void => {
  if (mediaType(contentType) === 'application/merge-patch+json') return;
  throw refuse(415, !custom, unknownFormat('application/merge-patch+json'));
};
