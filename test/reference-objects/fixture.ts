import { readdirSync, readFileSync } from 'node:fs';

/** An object with every field of upstream's Go type, printed by the program in `tools/reference-objects`. */
export interface Reference {
  readonly object: FixtureObject;
  /** The object as an API server sends it in protobuf. */
  readonly protobuf: Uint8Array;
}

export type FixtureObject = Readonly<Record<string, unknown>>;

/** Key of a map in a reference object that represents any key. */
export const anyKey = '*';

const folder = new URL('./fixtures/', import.meta.url);

interface File {
  readonly object: FixtureObject;
  readonly protobuf?: string;
}

const read = (name: string): File => JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as File;

const isObject = (value: unknown): value is FixtureObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads the object at a reference such as `Pod.spec`. Types that occur in several places are printed in one of them only. */
const follow = (reference: string): unknown => {
  const [kind = '', ...path] = reference.split('.');
  let found: unknown = read(kind).object;
  for (const key of path) found = isObject(found) ? found[key] : undefined;
  if (found === undefined) throw new Error(`${reference}: no such reference`);
  return complete(found);
};

/** Replaces references with the objects to which they refer. */
const complete = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(complete);
  if (!isObject(value)) return value;
  if (typeof value.$see === 'string') return follow(value.$see);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, complete(entry)]));
};

/** Kinds with a reference object, by the names of their files. The file of a kind in a second API version or group has another name. */
export const referenceKinds: readonly string[] = readdirSync(folder)
  .map((file) => file.replace('.json', ''))
  .filter((kind) => kind !== 'texts');

export const readReference = (kind: string): Reference => {
  const { object, protobuf = '' } = read(kind);
  return { object: complete(object) as FixtureObject, protobuf: Buffer.from(protobuf, 'base64') };
};

interface Texts {
  /** Constants by import path and name. */
  readonly constants: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Texts without white space in packages that do not export constants for them, by import path. */
  readonly words: Readonly<Record<string, readonly string[]>>;
}

const { constants, words } = read('texts').object as unknown as Texts;

/** Exported string constants of an upstream package, by name. */
export const upstreamConstants = (importPath: string): Readonly<Record<string, string>> => {
  const named = constants[importPath];
  if (named === undefined) throw new Error(`${importPath}: no such package`);
  return named;
};

/** Texts in upstream's code, including the names of its kinds and API versions. */
export const upstreamTexts: ReadonlySet<string> = new Set([
  ...referenceKinds.flatMap((kind) => [kind, kind.replace(/List$/, ''), `${kind}List`]),
  ...referenceKinds.map((kind) => String(read(kind).object.apiVersion)),
  ...Object.values(constants).flatMap((named) => Object.values(named)),
  ...Object.values(words).flat(),
]);
