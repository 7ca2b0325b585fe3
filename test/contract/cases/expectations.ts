import { expect } from 'vitest';
import type { Api, Reply } from './api.ts';
import type { Json } from './json.ts';

export interface Failure {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string | RegExp;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A `Status` of a failure, in the HTTP code and in the body alike. */
export const expectFailure = (reply: Reply, failure: Failure): void => {
  expect(reply.status, reply.text).toBe(failure.code);
  expect(reply.json).toMatchObject({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    code: failure.code,
  });
  expect(reply.json.reason).toBe(failure.reason);
  if (typeof failure.message === 'string') expect(reply.json.message).toBe(failure.message);
  else if (failure.message !== undefined) expect(reply.json.message).toMatch(failure.message);
  if (failure.details !== undefined) expect(reply.json.details).toEqual(failure.details);
};

/** The answer's object, after its status was checked. */
export const expectObject = (reply: Reply, status = 200): Json => {
  expect(reply.status, reply.text).toBe(status);
  return reply.json;
};

/** Creates an object that the case needs; fails the case where that fails. */
export const made = async (api: Api, path: string, body: unknown): Promise<Json> =>
  expectObject(await api.create(path, body), 201);

/** The names of a list, in its order. */
export const namesOf = (reply: Reply): readonly string[] => expectObject(reply).items.map((item) => item.metadata.name);

/** The fields of `causes` that a client may rely on. */
export const causesOf = (reply: Reply): readonly (readonly [string, string])[] =>
  (reply.json.details?.causes ?? []).map(({ reason, field }) => [reason, field]);

export const versionOf = (object: Json): string => object.metadata.resourceVersion;

/** The resourceVersion of the list at `path`, as of now. */
export const listVersion = async (api: Api, path: string): Promise<string> =>
  versionOf(expectObject(await api.get(path)));
