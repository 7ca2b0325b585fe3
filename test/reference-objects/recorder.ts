import { anyKey } from './fixture.ts';

/** A key that the program asked an object of upstream's for. */
export interface Read {
  /** Such as `Shoot`. */
  readonly kind: string;
  /** Of the key, from the root of the object; list places are `[]`, keys of maps `*`. */
  readonly path: string;
  /** As it was asked for: in a map, the label or annotation. */
  readonly key: string;
  /** That asked, relative to the repository. */
  readonly file: string;
  /** `entry`: of a map, which may have any. */
  readonly found: 'field' | 'entry' | 'missing';
}

export interface Recorder {
  /** A stand-in for the object that writes down what it is asked for. */
  wrap<T>(kind: string, object: T): T;
  readonly reads: readonly Read[];
}

/** The file of `src/` that is being run: the innermost one. Undefined where the test itself asks. */
const readingFile = (): string | undefined => {
  const { stack = '' } = new Error('where');
  return /\/(src\/[^:?)]+\.ts)/.exec(stack)?.[1];
};

const isMap = (object: object): boolean => Object.hasOwn(object, anyKey);

interface Place {
  readonly kind: string;
  readonly path: string;
}

export const createRecorder = (): Recorder => {
  const reads: Read[] = [];

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
