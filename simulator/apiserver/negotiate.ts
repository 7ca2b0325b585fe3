import { protobufMediaType } from './kube-protobuf.ts';
import { StatusError } from './status.ts';

/** True if an Accept header asks for protobuf first. Whatever else it asks for, Tables and metadata alone among it, is answered in JSON. */
export const prefersProtobuf = (accept: string | undefined): boolean =>
  (accept ?? '').split(',')[0]?.trim().toLowerCase() === protobufMediaType;

const unsupported = (accepted: string): StatusError => {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  return new StatusError({ code: 415, reason: 'UnsupportedMediaType', message });
};

const mediaType = (contentType: string | undefined): string =>
  (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

/** A body must be JSON; no announcement counts as JSON. Throws UnsupportedMediaType (415) for all others, YAML and protobuf among them. */
export const checkBodyFormat = (contentType: string | undefined): void => {
  const type = mediaType(contentType);
  if (type !== '' && type !== 'application/json') throw unsupported('application/json');
};

/** Throws UnsupportedMediaType (415) for all patches but merge patches. */
export const checkPatchFormat = (contentType: string | undefined): void => {
  const accepted = 'application/merge-patch+json';
  if (mediaType(contentType) !== accepted) throw unsupported(accepted);
};
