import { type FixtureObject, readReference } from './fixture.ts';
import { type KeyRead, createRecorder } from './recorder.ts';

/** One way in which the program reads a kind. */
export interface Projection {
  readonly name: string;
  /** Kind of the reference object. */
  readonly kind: string;
  readonly project: (json: unknown) => unknown;
  /** Values of fields that determine which others are read, by path. A path through a list applies to all its items. */
  readonly set?: Readonly<Record<string, string | boolean | readonly string[]>>;
  readonly exceptions?: Exceptions;
}

/** Exceptions to two rules: upstream has every key that is read, and every field of the result differs from that of an object without fields. */
export interface Exceptions {
  /** Paths in the object that upstream does not have. */
  readonly missing?: readonly string[];
  /** Paths in the result that stay empty. */
  readonly empty?: readonly string[];
}

/** Returns `value` with `wanted` at the path; `list[]` is each item of the list. */
const withValue = (value: unknown, [key, ...rest]: readonly string[], wanted: unknown): unknown => {
  if (key === undefined) return wanted;
  const object = value as FixtureObject;
  const name = key.replace(/\[\]$/, '');
  if (!Object.hasOwn(object, name)) throw new Error(`${name}: upstream has no such key`);
  const member = object[name];
  const next = Array.isArray(member)
    ? member.map((item) => withValue(item, rest, wanted))
    : withValue(member, rest, wanted);
  return { ...object, [name]: next };
};

const objectFor = ({ kind, set = {} }: Projection): unknown =>
  Object.entries(set).reduce<unknown>(
    (object, [path, value]) => withValue(object, path.split('.'), value),
    readReference(kind).object,
  );

/** Builds an object with only the fields that readers require. */
const bareObject = (kind: string): unknown => {
  const object = { metadata: { name: 'bare' }, spec: {}, status: {} };
  if (kind === 'Cluster') return { ...object, spec: { shoot: object } };
  return kind.endsWith('List') ? { kind, metadata: {}, items: [object], resources: [] } : object;
};

export interface Projected {
  /** Result for upstream's object; `reads`: the keys that were read from it. */
  readonly full: unknown;
  readonly reads: readonly KeyRead[];
}

export const runProjection = async (projection: Projection): Promise<Projected> => {
  const recorder = createRecorder();
  const full = await projection.project(recorder.wrap(projection.kind, objectFor(projection)));
  return { full, reads: recorder.reads };
};

/** Result for an object without fields; undefined if the reader rejects it. */
export const runBare = async ({ kind, project }: Projection): Promise<unknown> => {
  try {
    return await project(bareObject(kind));
  } catch {
    return undefined;
  }
};

/** Decodes one object as it occurs in a watch event. */
export const object =
  <T>(decode: (json: unknown, path: string) => T) =>
  (json: unknown): T =>
    decode(json, 'object');

/** Exceptions for kinds whose conditions lack some fields of Gardener's conditions, because one decoder reads the conditions of all kinds. */
export const ofOtherConditions = (...fields: readonly string[]): Exceptions => ({
  missing: fields.map((field) => `status.conditions[].${field}`),
});
