import { protobufMediaType } from './kube-protobuf.ts';
import { StatusError } from './status.ts';

/** True if an Accept header prefers protobuf. All other formats, such as Tables or metadata only, get plain JSON. */
export const prefersProtobuf = (accept: string | undefined): boolean =>
  (accept ?? '').split(',')[0]?.trim().toLowerCase() === protobufMediaType;

const unsupported = (accepted: string): StatusError => {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  return new StatusError({ code: 415, reason: 'UnsupportedMediaType', message });
};

const mediaType = (contentType: string | undefined): string =>
  (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

/** Checks that a body is JSON, the default without a Content-Type. Throws UnsupportedMediaType (415) for all others, such as YAML and protobuf. */
export const checkBodyFormat = (contentType: string | undefined): void => {
  const type = mediaType(contentType);
  if (type !== '' && type !== 'application/json') throw unsupported('application/json');
};

/** Throws UnsupportedMediaType (415) for all patches except merge patches. */
export const checkPatchFormat = (contentType: string | undefined): void => {
  const accepted = 'application/merge-patch+json';
  if (mediaType(contentType) !== accepted) throw unsupported(accepted);
};
