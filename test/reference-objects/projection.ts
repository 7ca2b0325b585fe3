import { type FixtureObject, readReference } from './fixture.ts';
import { type KeyRead, createRecorder } from './recorder.ts';

/** One way in which the program reads a kind. */
export interface Projection {
  readonly name: string;
  /** Of the reference object. */
  readonly kind: string;
  readonly project: (json: unknown) => unknown;
  /** Values that decide what is read at all, by path; all places of a list are meant. */
  readonly set?: Readonly<Record<string, string | boolean | readonly string[]>>;
  readonly exceptions?: Exceptions;
}

/** To the rule that upstream has every key that is asked for, and that nothing is as empty with the object as without it. */
export interface Exceptions {
  /** Paths in the object. */
  readonly missing?: readonly string[];
  /** Paths in what is made of it. */
  readonly empty?: readonly string[];
}

/** `value` with something else at `path`; `list[]` means each item of the list. */
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

/** What readers insist on, and nothing else. */
const bareObject = (kind: string): unknown => {
  const object = { metadata: { name: 'bare' }, spec: {}, status: {} };
  if (kind === 'Cluster') return { ...object, spec: { shoot: object } };
  return kind.endsWith('List') ? { kind, metadata: {}, items: [object], resources: [] } : object;
};

export interface Projected {
  /** What is made of upstream's object, and what that was asked for. */
  readonly full: unknown;
  readonly reads: readonly KeyRead[];
}

export const runProjection = async (projection: Projection): Promise<Projected> => {
  const recorder = createRecorder();
  const full = await projection.project(recorder.wrap(projection.kind, objectFor(projection)));
  return { full, reads: recorder.reads };
};

/** What is made of an object without fields; undefined where it is refused. */
export const runBare = async ({ kind, project }: Projection): Promise<unknown> => {
  try {
    return await project(bareObject(kind));
  } catch {
    return undefined;
  }
};

/** Decodes one object, such as a watch event contains it. */
export const object =
  <T>(decode: (json: unknown, path: string) => T) =>
  (json: unknown): T =>
    decode(json, 'object');

/** Exceptions of kinds whose conditions lack some of the fields that Gardener's have; one decoder reads the conditions of all kinds. */
export const ofOtherConditions = (...fields: readonly string[]): Exceptions => ({
  missing: fields.map((field) => `status.conditions[].${field}`),
  empty: fields.includes('lastUpdateTime') ? ['conditions.0.lastUpdateTime'] : [],
});
