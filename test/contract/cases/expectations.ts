import { expect } from 'vitest';
import type { Api, Reply } from './api.ts';
import type { Json } from './json.ts';

export interface Failure {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string | RegExp;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Expects a failure: the same code in the HTTP status and in a `Status` as the body. */
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

/** Returns the object of a response, after checking the HTTP status. */
export const expectObject = (reply: Reply, status = 200): Json => {
  expect(reply.status, reply.text).toBe(status);
  return reply.json;
};

/** Creates an object that the case needs. Fails the case if the API server refuses it. */
export const made = async (api: Api, path: string, body: unknown): Promise<Json> =>
  expectObject(await api.create(path, body), 201);

/** Returns the names of a list's items, in the order of the list. */
export const namesOf = (reply: Reply): readonly string[] => expectObject(reply).items.map((item) => item.metadata.name);

export const versionOf = (object: Json): string => object.metadata.resourceVersion;

/** Reads the current resourceVersion of the list at `path`. */
export const listVersion = async (api: Api, path: string): Promise<string> =>
  versionOf(expectObject(await api.get(path)));

/** A rule of the API, checked the same way on every server: its name, and a function that throws when the server breaks it. */
export type ContractCase = readonly [name: string, run: (api: Api) => Promise<void>];

/** Returns the cases of one topic, with the topic before each name. */
export const topic = (name: string, cases: Readonly<Record<string, ContractCase[1]>>): readonly ContractCase[] =>
  Object.entries(cases).map(([rule, run]) => [`${name}: ${rule}`, run]);
