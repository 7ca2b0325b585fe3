import { ProtobufError } from '../domain/index.ts';
import { bodyFormat } from './negotiate.ts';
import { isMap, type JsonMap } from './object.ts';
import { type BodyMessage, openEnvelope, readBody, UnknownFieldError } from './protobuf-body/read.ts';
import { badRequest, StatusError } from './status.ts';

/** What a write carries. */
export interface RequestBody {
  readonly contentType: string | undefined;
  /** Empty where there is none. */
  readonly body: string | Uint8Array;
}

export interface WantedBody {
  /** The kind that it should be. */
  readonly kind: string;
  /** Absent: it comes in JSON only. */
  readonly message?: BodyMessage | undefined;
  /** The words of a BadRequest. */
  readonly describe: (problem: string) => string;
}

const jsonProblem = "couldn't get version/kind; json parse error: ";
const notProtobuf = 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]';

export const bodyText = ({ body }: RequestBody): string =>
  typeof body === 'string' ? body : Buffer.from(body).toString();

/** Throws a BadRequest StatusError with the words of `describe`. */
export const parseJson = (text: string, describe: (problem: string) => string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw badRequest(describe(error instanceof Error ? error.message : String(error)));
  }
};

/** Of something of another kind nothing but the type: its fields mean something else. */
const readProtobuf = (bytes: Uint8Array, kind: string, message: BodyMessage): JsonMap => {
  const envelope = openEnvelope(bytes);
  const type = { kind: envelope.kind === '' ? undefined : envelope.kind, apiVersion: envelope.apiVersion || undefined };
  return envelope.kind === '' || envelope.kind === kind
    ? { ...type, ...readBody(envelope.raw, message, [kind]) }
    : type;
};

const parseProtobuf = (bytes: Uint8Array, wanted: WantedBody, message: BodyMessage): JsonMap => {
  try {
    return readProtobuf(bytes, wanted.kind, message);
  } catch (error) {
    if (error instanceof ProtobufError) throw badRequest(wanted.describe(`${notProtobuf} (${error.message})`));
    if (!(error instanceof UnknownFieldError)) throw error;
    throw new StatusError({ code: 415, reason: 'UnsupportedMediaType', message: error.message });
  }
};

/** The object in a body, as its JSON. Throws a StatusError: UnsupportedMediaType (415), BadRequest. */
export const readObjectBody = (request: RequestBody, wanted: WantedBody): JsonMap => {
  const { kind, message, describe } = wanted;
  if (bodyFormat(request.contentType) === 'protobuf') {
    if (message === undefined) throw badRequest(describe(`${kind} has no protobuf`));
    const { body } = request;
    return parseProtobuf(typeof body === 'string' ? Buffer.from(body) : body, wanted, message);
  }
  const object = parseJson(bodyText(request), (problem) => describe(jsonProblem + problem));
  if (!isMap(object)) throw badRequest(describe(`${jsonProblem}not an object`));
  return object;
};
