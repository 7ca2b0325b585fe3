import type { Path } from './rules/index.ts';
import { type Alias, type Document, type Node, type Pair, type YAMLMap, isAlias, isMap, isScalar, isSeq } from 'yaml';

/** The YAML nodes at a path. Items of a list and the root have no key. */
export interface Located {
  readonly key: Node | undefined;
  readonly value: Node | undefined;
  /** False if the path does not exist: the nodes are then those of its longest prefix that does. */
  readonly exact: boolean;
}

/** Returns the text of a key; empty for keys that are not scalars, which the parser rejects. */
export const keyText = (key: unknown): string => (isScalar(key) ? String(key.value) : '');

/** The pairs of a map by the text of their key. The last of several equal keys wins. */
interface PairsByKey {
  readonly exact: ReadonlyMap<string, Pair>;
  readonly anyCase: ReadonlyMap<string, Pair>;
}

const pairsByKey = ({ items }: YAMLMap): PairsByKey => ({
  exact: new Map(items.map((pair) => [keyText(pair.key), pair])),
  anyCase: new Map(items.map((pair) => [keyText(pair.key).toLowerCase(), pair])),
});

/** Number of nested merges (`<<`) that a lookup follows. Without a limit, a map that merges itself would never end. */
const maxMerges = 100;

/**
 * Returns a function that finds the nodes at a path of the document. Each map is indexed once, so that finding all keys of a large map takes linear time.
 */
export const locator = (document: Document): ((path: Path) => Located) => {
  const indices = new WeakMap<YAMLMap, PairsByKey>();
  const targets = new WeakMap<Alias, Node | undefined>();

  const indexOf = (map: YAMLMap): PairsByKey => {
    const known = indices.get(map) ?? pairsByKey(map);
    indices.set(map, known);
    return known;
  };

  const resolved = (node: unknown): Node | undefined => {
    let target = node;
    if (isAlias(node)) {
      if (!targets.has(node)) targets.set(node, node.resolve(document));
      target = targets.get(node);
    }
    return isMap(target) || isSeq(target) || isScalar(target) ? target : undefined;
  };

  /** Matches the exact spelling first, then any case, like the keys of a configuration. */
  const childOf = (parent: Node | undefined, step: string | number, depth: number): Located | undefined => {
    const node = resolved(parent);
    if (isSeq(node)) {
      const item = node.items[Number(step)] as Node | undefined;
      return item === undefined ? undefined : { key: undefined, value: item, exact: true };
    }
    if (!isMap(node)) return undefined;
    const { exact, anyCase } = indexOf(node);
    const pair = exact.get(String(step)) ?? anyCase.get(String(step).toLowerCase());
    if (pair !== undefined) return { key: pair.key as Node, value: (pair.value ?? pair.key) as Node, exact: true };
    const merge = exact.get('<<');
    return merge === undefined || depth >= maxMerges ? undefined : childOf(merge.value as Node, step, depth + 1);
  };

  return (path) => {
    let found: Located = { key: undefined, value: document.contents ?? undefined, exact: true };
    for (const step of path) {
      const child = childOf(found.value, step, 0);
      if (child === undefined) return { ...found, exact: false };
      found = child;
    }
    return found;
  };
};
