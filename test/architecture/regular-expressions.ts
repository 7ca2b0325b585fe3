import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export interface RegularExpression {
  readonly source: string;
  readonly flags: string;
  /** `path:line`, each. */
  readonly places: readonly string[];
}

const isRegExpCall = (node: ts.Node): boolean =>
  (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
  ts.isIdentifier(node.expression) &&
  node.expression.text === 'RegExp';

export interface RegularExpressions {
  /** Each once. */
  readonly literals: readonly RegularExpression[];
  /** Places of `RegExp(...)`: such an expression is known only when it runs. */
  readonly computed: readonly string[];
}

/** Test code reads what it wrote itself. */
const isProduct = (path: string): boolean => path.endsWith('.ts') && !/\.test\.ts$|\/testing\//.test(path);

/** All regular expressions of the product below these folders, found by the compiler's own parser. */
export const regularExpressionsOf = (folders: readonly string[]): RegularExpressions => {
  const literals = new Map<string, string[]>();
  const computed: string[] = [];
  const paths = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  );
  for (const path of paths.filter(isProduct)) {
    const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2023, true);
    const visit = (node: ts.Node): void => {
      const place = (): string => `${path}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`;
      if (isRegExpCall(node)) computed.push(place());
      if (ts.isRegularExpressionLiteral(node)) literals.set(node.text, [...(literals.get(node.text) ?? []), place()]);
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return {
    literals: [...literals].map(([text, places]) => {
      const end = text.lastIndexOf('/');
      return { source: text.slice(1, end), flags: text.slice(end + 1), places };
    }),
    computed,
  };
};
