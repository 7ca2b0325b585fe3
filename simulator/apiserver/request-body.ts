import { errorText } from '../../src/kubernetes/api/errors.ts';
import { checkBodyFormat } from './negotiate.ts';
import { type JsonMap, isMap } from './object.ts';
import { badRequest } from './status.ts';

/** Body of a write request. */
export interface RequestBody {
  readonly contentType: string | undefined;
  /** Empty if the request has no body. */
  readonly body: string | Uint8Array;
}

export const bodyText = ({ body }: RequestBody): string =>
  typeof body === 'string' ? body : Buffer.from(body).toString();

/** Parses JSON. Throws a BadRequest StatusError with the message that `describe` returns. */
export const parseJson = (text: string, describe: (problem: string) => string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw badRequest(describe(errorText(error)));
  }
};

/** Reads the object in a JSON body. Throws a StatusError: UnsupportedMediaType (415) or BadRequest with the message that `describe` returns. */
export const readObjectBody = (request: RequestBody, describe: (problem: string) => string): JsonMap => {
  checkBodyFormat(request.contentType);
  const refuse = (problem: string): string => describe(`couldn't get version/kind; json parse error: ${problem}`);
  const object = parseJson(bodyText(request), refuse);
  if (!isMap(object)) throw badRequest(refuse('not an object'));
  return object;
};
