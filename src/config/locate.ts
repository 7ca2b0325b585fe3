import { type Document, type Node, isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { Path } from './problem.ts';

/** What stands at a path; the key is absent for items of a list and for the root. */
export interface Located {
  readonly key: Node | undefined;
  readonly value: Node | undefined;
  /** False when the path does not exist and this is the nearest that does. */
  readonly exact: boolean;
}

const resolved = (document: Document, node: unknown): Node | undefined => {
  const target = isAlias(node) ? node.resolve(document) : node;
  return isMap(target) || isSeq(target) || isScalar(target) ? target : undefined;
};

/** Of keys other than scalars, which the reader refuses, the empty string. */
export const keyText = (key: unknown): string => (isScalar(key) ? String(key.value) : '');

/** Exact spelling first, then any case, as the keys of a configuration are matched. */
const childOf = (document: Document, parent: Node | undefined, step: string | number): Located | undefined => {
  const node = resolved(document, parent);
  if (isSeq(node)) {
    const item = node.items[Number(step)] as Node | undefined;
    return item === undefined ? undefined : { key: undefined, value: item, exact: true };
  }
  if (!isMap(node)) return undefined;
  const name = String(step);
  const pairs = node.items;
  const pair =
    pairs.findLast(({ key }) => keyText(key) === name) ??
    pairs.findLast(({ key }) => keyText(key).toLowerCase() === name.toLowerCase());
  if (pair !== undefined) return { key: pair.key as Node, value: (pair.value ?? pair.key) as Node, exact: true };
  const merge = pairs.find(({ key }) => keyText(key) === '<<');
  return merge === undefined ? undefined : childOf(document, merge.value as Node, step);
};

export const locate = (document: Document, path: Path): Located => {
  let found: Located = { key: undefined, value: document.contents ?? undefined, exact: true };
  for (const step of path) {
    const child = childOf(document, found.value, step);
    if (child === undefined) return { ...found, exact: false };
    found = child;
  }
  return found;
};

/** The path to a node of which `visit` names the ancestors; `node` itself counts when it is an item of a list. */
export const pathTo = (ancestors: readonly unknown[], node: unknown): Path =>
  ancestors.flatMap((ancestor, index): Path => {
    if (isSeq(ancestor)) return [ancestor.items.indexOf(ancestors[index + 1] ?? node)];
    const { key } = ancestor as { readonly key?: unknown };
    return isScalar(key) ? [keyText(key)] : [];
  });
