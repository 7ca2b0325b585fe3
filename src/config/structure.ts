import type { Path } from './rules/index.ts';
import { type Alias, type Document, isAlias, isMap, isScalar, isSeq } from 'yaml';
import { keyText } from './locate.ts';

/**
 * Aliases and merges (`<<: *name`) in one document. To resolve one takes time linear in the file: without a bound, 9,000 merges in 230 KB
 * held up the whole program for minutes.
 */
export const maxAliases = 100;

/** About the text itself, before anybody asks what it means. */
interface StructureFinding {
  /** In the text. */
  readonly offset: number;
  readonly path: Path;
  readonly message: string;
}

export interface Structure {
  readonly findings: readonly StructureFinding[];
  /** False where resolving the aliases would cost too much. */
  readonly isResolvable: boolean;
}

/** Keys given twice, aliases of nothing, too many aliases. Takes time linear in the size of the document. */
export const structureFindings = (document: Document): Structure => {
  const findings: StructureFinding[] = [];
  const anchors = new Set<string>();
  let aliases = 0;
  // Grown and shrunk in place: a copy for each node would cost time that grows with the depth.
  const path: (string | number)[] = [];
  const report = (offset: number | undefined, message: string): void => {
    findings.push({ offset: offset ?? 0, path: [...path], message });
  };

  const visitAlias = ({ source, range }: Alias): void => {
    aliases += 1;
    if (!anchors.has(source)) report(range?.[0], `there is no anchor &${source} before this alias`);
    if (aliases === maxAliases + 1) {
      report(
        range?.[0],
        `there are more than ${maxAliases} aliases and merges up to here; write out what they stand for`,
      );
    }
  };

  const visitNode = (node: unknown): void => {
    if (isAlias(node)) {
      visitAlias(node);
      return;
    }
    if (!isMap(node) && !isSeq(node) && !isScalar(node)) return;
    if (isMap(node)) {
      const keys = new Set<string>();
      for (const { key, value } of node.items) {
        const text = keyText(key);
        path.push(text);
        if (keys.has(text) && isScalar(key)) report(key.range?.[0], 'is given more than once; keep one of them');
        keys.add(text);
        visitNode(key);
        visitNode(value);
        path.pop();
      }
    }
    if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) {
        path.push(index);
        visitNode(item);
        path.pop();
      }
    }
    // An anchor names what is complete: no alias inside of it can mean it.
    if (node.anchor !== undefined) anchors.add(node.anchor);
  };

  visitNode(document.contents);
  return { findings, isResolvable: aliases <= maxAliases };
};
