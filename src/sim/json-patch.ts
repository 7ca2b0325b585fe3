import { equalJson, isMap, type JsonMap } from './object.ts';
import { badRequest, unappliablePatch } from './status.ts';

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

const segmentsOf = (pointer: string): readonly string[] => {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw unappliablePatch();
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
};

// Semantics are those of the library that the API server uses (gopkg.in/evanphx/json-patch.v4), which is laxer than RFC 6902: replace
// adds what is not there, indices may count from the end, and what is not there equals null.

const indexIn = (list: readonly unknown[], segment: string, end: number): number => {
  if (!/^-?\d+$/.test(segment)) throw unappliablePatch();
  const index = Number(segment) < 0 ? Number(segment) + end + 1 : Number(segment);
  if (index < 0 || index > end || end > list.length) throw unappliablePatch();
  return index;
};

/** The container that holds the last of `segments`. */
const containerAt = (document: unknown, segments: readonly string[]): unknown => {
  let current = document;
  for (const segment of segments.slice(0, -1)) {
    if (Array.isArray(current)) current = current[indexIn(current, segment, current.length - 1)] as unknown;
    else current = isMap(current) && Object.hasOwn(current, segment) ? current[segment] : undefined;
  }
  if (segments.length === 0 || (!Array.isArray(current) && !isMap(current))) throw unappliablePatch();
  return current;
};

/** The value at `segments`; null for a member that an object has not. */
const read = (document: unknown, segments: readonly string[]): unknown => {
  const container = containerAt(document, segments);
  const last = segments.at(-1) ?? '';
  if (Array.isArray(container)) return container[indexIn(container, last, container.length - 1)] as unknown;
  const map = container as JsonMap;
  return Object.hasOwn(map, last) ? map[last] : null;
};

type Change = (container: unknown[] | JsonMap, last: string) => void;

/** A copy of `document` whose container at `segments` (all but the last) went through `change`. */
const edit = (document: unknown, segments: readonly string[], change: Change): unknown => {
  const [head, ...rest] = segments;
  if (head === undefined || (!Array.isArray(document) && !isMap(document))) throw unappliablePatch();
  const copy: unknown[] | JsonMap = Array.isArray(document) ? [...(document as unknown[])] : { ...document };
  if (rest.length === 0) {
    change(copy, head);
  } else if (Array.isArray(copy)) {
    const index = indexIn(copy, head, copy.length - 1);
    copy[index] = edit(copy[index], rest, change);
  } else {
    copy[head] = edit(Object.hasOwn(copy, head) ? copy[head] : undefined, rest, change);
  }
  return copy;
};

const adding =
  (value: unknown): Change =>
  (container, last) => {
    if (!Array.isArray(container)) container[last] = value;
    else container.splice(last === '-' ? container.length : indexIn(container, last, container.length), 0, value);
  };

const removing: Change = (container, last) => {
  if (Array.isArray(container)) container.splice(indexIn(container, last, container.length - 1), 1);
  else if (!Object.hasOwn(container, last)) throw unappliablePatch();
  else Reflect.deleteProperty(container, last);
};

const replacing =
  (value: unknown): Change =>
  (container, last) => {
    if (Array.isArray(container)) container[indexIn(container, last, container.length - 1)] = value;
    else container[last] = value;
  };

const replaceAll = (value: unknown): unknown => {
  if (!isMap(value) && !Array.isArray(value)) throw unappliablePatch();
  return value;
};

const apply = (document: unknown, operation: Operation): unknown => {
  const { value } = operation;
  const path = segmentsOf(operation.path);
  switch (operation.op) {
    case 'add':
      return edit(document, path, adding(value));
    case 'remove':
      return edit(document, path, removing);
    case 'replace':
      return path.length === 0 ? replaceAll(value) : edit(document, path, replacing(value));
    case 'move': {
      const from = segmentsOf(operation.from ?? '');
      return edit(edit(document, from, removing), path, adding(read(document, from)));
    }
    case 'copy':
      return edit(document, path, adding(read(document, segmentsOf(operation.from ?? ''))));
    case 'test': {
      const found = path.length === 0 ? document : read(document, path);
      if (!equalJson(found, value ?? null)) throw unappliablePatch();
      return document;
    }
    default:
      throw unappliablePatch();
  }
};

const isOperation = (value: unknown): value is Operation =>
  isMap(value) && typeof value.op === 'string' && typeof value.path === 'string';

/**
 * RFC 6902. Returns a new value; `document` is not written to. Throws a StatusError: BadRequest where `patch` is no list of
 * operations, Invalid (422) where a `test` fails or a path is not there.
 */
export const applyJsonPatch = (document: unknown, patch: unknown): unknown => {
  if (!Array.isArray(patch)) {
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
  }
  return patch.reduce((current: unknown, operation: unknown) => {
    if (!isOperation(operation)) throw unappliablePatch();
    return apply(current, operation);
  }, document);
};
