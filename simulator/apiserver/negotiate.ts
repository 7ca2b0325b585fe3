import { protobufMediaType } from './kube-protobuf.ts';
import { StatusError } from './status.ts';

/** True if an Accept header prefers protobuf. All other formats, such as Tables or metadata only, get plain JSON. */
export const prefersProtobuf = (accept: string | undefined): boolean =>
  (accept ?? '').split(',')[0]?.trim().toLowerCase() === protobufMediaType;

/** Throws UnsupportedMediaType (415) for all patches except merge patches. */
export const checkPatchFormat = (contentType: string | undefined): void => {
  const accepted = 'application/merge-patch+json';
  if ((contentType ?? '').split(';')[0]?.trim().toLowerCase() === accepted) return;
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  throw new StatusError({ code: 415, reason: 'UnsupportedMediaType', message });
};
