import { anyKey } from './fixture.ts';

/** A key of an upstream object that the program has read. */
export interface KeyRead {
  /** Kind of the object, such as `Shoot`. */
  readonly kind: string;
  /** Path of the key from the root of the object. Items of lists are `[]`, keys of maps are `*`. */
  readonly path: string;
  /** The key that was read; in a map, the name of the label or annotation. */
  readonly key: string;
  /** Path of the file that read the key, relative to the repository. */
  readonly file: string;
  /** `entry` if the object is a map, which may have any key. */
  readonly found: 'field' | 'entry' | 'missing';
}

export interface KeyRecorder {
  /** Returns a proxy for the object that records the keys that are read. */
  wrap<T>(kind: string, object: T): T;
  readonly reads: readonly KeyRead[];
}

/** More stack frames than there are between a reader and the access to a key. */
const stackDepth = 60;

/** The innermost file of `src/` on the stack; undefined if the test itself reads. */
const readingFile = (): string | undefined => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = stackDepth;
  const { stack = '' } = new Error('where');
  Error.stackTraceLimit = stackTraceLimit;
  return /^ +at [^\n]*\/((?:src|simulator)\/[^:?)\n]+\.ts)/m.exec(stack)?.[1];
};

const isMap = (object: object): boolean => Object.hasOwn(object, anyKey);

interface Place {
  readonly kind: string;
  readonly path: string;
}

export const createRecorder = (): KeyRecorder => {
  const reads: KeyRead[] = [];

  const note = (object: object, { kind, path }: Place, key: string): string | undefined => {
    const file = readingFile();
    const [found, at] = Object.hasOwn(object, key)
      ? (['field', key] as const)
      : isMap(object)
        ? (['entry', anyKey] as const)
        : (['missing', undefined] as const);
    if (file !== undefined) reads.push({ kind, path: `${path}.${at ?? key}`.replace(/^\./, ''), key, file, found });
    return at;
  };

  const wrapList = (list: readonly unknown[], { kind, path }: Place): readonly unknown[] =>
    list.map((item) => wrapValue(item, { kind, path: `${path}[]` }));

  const wrapObject = (object: object, place: Place): object =>
    new Proxy(object, {
      get: (target, key) => {
        if (typeof key === 'symbol') return Reflect.get(target, key) as unknown;
        const at = note(target, place, key);
        if (at === undefined) return undefined;
        const path = place.path === '' ? at : `${place.path}.${at}`;
        return wrapValue(Reflect.get(target, at), { kind: place.kind, path });
      },
      getOwnPropertyDescriptor: (target, key) => {
        if (typeof key === 'symbol') return Reflect.getOwnPropertyDescriptor(target, key);
        const at = note(target, place, key);
        const found = at === undefined ? undefined : Reflect.getOwnPropertyDescriptor(target, at);
        return found && { ...found, configurable: true };
      },
    });

  const wrapValue = (value: unknown, place: Place): unknown => {
    if (Array.isArray(value)) return wrapList(value, place);
    return typeof value === 'object' && value !== null ? wrapObject(value, place) : value;
  };

  return { wrap: <T>(kind: string, object: T) => wrapValue(object, { kind, path: '' }) as T, reads };
};
