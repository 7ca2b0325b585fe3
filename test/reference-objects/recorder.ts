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
  /** The functions of `src/` that were running, as `file name`. */
  readonly functions: readonly string[];
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

/** The functions of `src/` on the stack, the innermost first; none if the test itself reads. */
const runningFunctions = (): readonly (readonly [file: string, name: string])[] => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = stackDepth;
  const { stack = '' } = new Error('where');
  Error.stackTraceLimit = stackTraceLimit;
  return Array.from(
    // `at Object.decodeNode [as decode] (/where/src/domain/nodes.ts:40:3)`, or `at /where/src/...` for a function without a name.
    stack.matchAll(
      /^ +at (?:async )?(?:(?:[\w$<>]+\.)*([\w$<>]+)(?: \[as \w+\])? \()?[^\s(]*\/((?:src|simulator)\/[^:?)]+\.ts)/gm,
    ),
    ([, name = '', file = '']) => [file, name],
  );
};

const isMap = (object: object): boolean => Object.hasOwn(object, anyKey);

interface Place {
  readonly kind: string;
  readonly path: string;
}

export const createRecorder = (): KeyRecorder => {
  const reads: KeyRead[] = [];

  const note = (object: object, { kind, path }: Place, key: string): string | undefined => {
    const running = runningFunctions();
    const [file] = running[0] ?? [];
    const [found, at] = Object.hasOwn(object, key)
      ? (['field', key] as const)
      : isMap(object)
        ? (['entry', anyKey] as const)
        : (['missing', undefined] as const);
    if (file === undefined) return at;
    const functions = running.map((names) => names.join(' '));
    reads.push({ kind, path: `${path}.${at ?? key}`.replace(/^\./, ''), key, file, functions, found });
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
