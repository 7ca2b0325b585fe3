import { readFileSync } from 'node:fs';

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

interface Line {
  readonly name: string;
  readonly object: FixtureObject;
  readonly protobuf?: string;
}

// The first line names the versions of upstream.
const [, ...lines] = readFileSync(new URL('objects.jsonl', folder), 'utf8').trimEnd().split('\n');
const objects = new Map(lines.map((line) => JSON.parse(line) as Line).map((line) => [line.name, line]));

const read = (name: string): Line => {
  const line = objects.get(name);
  if (line === undefined) throw new Error(`${name}: no reference object`);
  return line;
};

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

/** Names of the reference objects: their kinds. That of a kind in a second API version or group is another. */
export const referenceKinds: readonly string[] = [...objects.keys()];

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

const { constants, words } = JSON.parse(readFileSync(new URL('texts.json', folder), 'utf8')) as Texts;

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
