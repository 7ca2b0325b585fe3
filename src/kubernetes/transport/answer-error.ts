/** An answer that is not read any further, or cannot be read; the message says why without quoting it. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
}

/** More bytes than the call takes. */
export class AnswerTooLargeError extends AnswerError {
  constructor(bytes: number) {
    super(`the answer is larger than ${String(bytes)} bytes`);
  }
}

export const notJson = (): AnswerError => new AnswerError('the answer is not JSON');

/** JSON.parse's own message quotes the text, which may be a Secret. */
export const parseJson = (bytes: Uint8Array): unknown => {
  try {
    const { buffer, byteOffset, length } = bytes;
    return JSON.parse(Buffer.from(buffer, byteOffset, length).toString('utf8')) as unknown;
  } catch {
    throw notJson();
  }
};
