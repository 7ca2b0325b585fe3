import { readdirSync, readFileSync } from 'node:fs';

/** An object with every field that upstream's Go type has; the program `tools/reference-objects` prints them. */
export interface Reference {
  readonly object: FixtureObject;
  /** The object as an API server sends it to whoever asks for protobuf. */
  readonly protobuf: Uint8Array;
}

export type FixtureObject = Readonly<Record<string, unknown>>;

/** The key of a map in a reference object: it stands for whatever keys there are. */
export const anyKey = '*';

const folder = new URL('./fixtures/', import.meta.url);

interface File {
  readonly object: FixtureObject;
  readonly protobuf?: string;
}

const read = (name: string): File => JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as File;

const isObject = (value: unknown): value is FixtureObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `Pod.spec`: what is shown in one place stands there only. */
const follow = (reference: string): unknown => {
  const [kind = '', ...path] = reference.split('.');
  let found: unknown = read(kind).object;
  for (const key of path) found = isObject(found) ? found[key] : undefined;
  if (found === undefined) throw new Error(`${reference}: no such reference`);
  return complete(found);
};

/** With everything in its place that is shown elsewhere. */
const complete = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(complete);
  if (!isObject(value)) return value;
  if (typeof value.$see === 'string') return follow(value.$see);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, complete(entry)]));
};

/** Kinds that there is a reference object of, by the names of their files: one of two API versions or groups has another name. */
export const referenceKinds: readonly string[] = readdirSync(folder)
  .map((file) => file.replace('.json', ''))
  .filter((kind) => kind !== 'texts');

export const readReference = (kind: string): Reference => {
  const { object, protobuf = '' } = read(kind);
  return { object: complete(object) as FixtureObject, protobuf: Buffer.from(protobuf, 'base64') };
};

interface Texts {
  /** By import path and name. */
  readonly constants: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** By import path: texts without white space in packages that have no names for them. */
  readonly words: Readonly<Record<string, readonly string[]>>;
}

const { constants, words } = read('texts').object as unknown as Texts;

/** The exported text constants of a package of upstream's, by name. */
export const upstreamConstants = (importPath: string): Readonly<Record<string, string>> => {
  const named = constants[importPath];
  if (named === undefined) throw new Error(`${importPath}: no such package`);
  return named;
};

/** The texts that upstream's own code has, with the names of its kinds and API versions. */
export const upstreamTexts: ReadonlySet<string> = new Set([
  ...referenceKinds.flatMap((kind) => [kind, kind.replace(/List$/, ''), `${kind}List`]),
  ...referenceKinds.map((kind) => String(read(kind).object.apiVersion)),
  ...Object.values(constants).flatMap((named) => Object.values(named)),
  ...Object.values(words).flat(),
]);
