import type { Path } from './rules/index.ts';
import { type Alias, type Document, isAlias, isMap, isScalar, isSeq } from 'yaml';
import { keyText } from './locate.ts';

/**
 * Limit of aliases and merges (`<<: *name`) in one document. Resolving one takes time linear in the size of the file: without a limit, 9,000
 * merges in 230 KB blocked the whole program for minutes.
 */
export const maxAliases = 100;

/** A problem of the YAML text itself, found before it is checked as a configuration. */
interface StructureFinding {
  /** Offset in the text, in UTF-16 code units. */
  readonly offset: number;
  readonly path: Path;
  readonly message: string;
}

export interface Structure {
  readonly findings: readonly StructureFinding[];
  /** False if the document has too many aliases to resolve. */
  readonly isResolvable: boolean;
}

/** Finds duplicate keys, aliases without an anchor, and too many aliases, in time linear in the size of the document. */
export const structureFindings = (document: Document): Structure => {
  const findings: StructureFinding[] = [];
  const anchors = new Set<string>();
  let aliases = 0;
  // One array that grows and shrinks: a copy for each node would take time that grows with the depth.
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
    // The anchor counts only after its node: an alias inside the node cannot refer to it.
    if (node.anchor !== undefined) anchors.add(node.anchor);
  };

  visitNode(document.contents);
  return { findings, isResolvable: aliases <= maxAliases };
};
