import { ResponseError } from '../api/errors.ts';

/** A response has more bytes than the call accepts. */
export class ResponseTooLargeError extends ResponseError {
  constructor(bytes: number) {
    super(`the answer is larger than ${String(bytes)} bytes`);
  }
}

export const notJson = (): ResponseError => new ResponseError('the answer is not JSON');

/** Parses JSON. Replaces JSON.parse's own error, which quotes the text, because that may be a Secret. */
export const parseJson = (bytes: Uint8Array): unknown => {
  try {
    const { buffer, byteOffset, length } = bytes;
    return JSON.parse(Buffer.from(buffer, byteOffset, length).toString('utf8')) as unknown;
  } catch {
    throw notJson();
  }
};
