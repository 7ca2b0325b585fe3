import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export interface RegularExpression {
  readonly source: string;
  readonly flags: string;
  /** Places of the expression, each as `path:line`. */
  readonly places: readonly string[];
}

const isRegExpCall = (node: ts.Node): boolean =>
  (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
  ts.isIdentifier(node.expression) &&
  node.expression.text === 'RegExp';

export interface RegularExpressions {
  /** Literals without duplicates. */
  readonly literals: readonly RegularExpression[];
  /** Places of `RegExp(...)`, whose expression is known only at run time. */
  readonly computed: readonly string[];
}

/** True for files that are not test code, which reads only its own texts. */
const isProduct = (path: string): boolean => path.endsWith('.ts') && !/\.test\.ts$|\/testing\//.test(path);

/** Finds all regular expressions of the product below these folders, with TypeScript's parser. */
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
