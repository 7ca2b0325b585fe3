import ts from 'typescript';

export interface Import {
  /** Undefined when the argument of `import()` or `require()` is not a literal. */
  readonly specifier: string | undefined;
  readonly line: number;
}

/** A watched global or construct, named as in the lists of rules.ts. */
export interface Use {
  readonly name: string;
  readonly line: number;
}

export interface Scan {
  readonly imports: readonly Import[];
  readonly uses: readonly Use[];
}

const globalObjects = new Set(['globalThis', 'global']);

const watched = new Set([
  ...globalObjects,
  'AbortSignal',
  'Date',
  'Math',
  'crypto',
  'fetch',
  'performance',
  'process',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
]);

/**
 * Reads one TypeScript file. Names are not resolved: a parameter called `process` counts as the global, so that a watched
 * name always means what it says. Names of members (`queue.process`, `{ process: 1 }`) do not count.
 */
export function scan(path: string, text: string): Scan {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS);
  const imports: Import[] = [];
  const uses: Use[] = [];
  const lineOf = (node: ts.Node) => source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;

  const visit = (node: ts.Node): void => {
    const imported = importOf(node);
    if (imported !== undefined) imports.push({ specifier: literalText(imported), line: lineOf(node) });
    const name = constructOf(node) ?? globalUse(node);
    if (name !== undefined) uses.push({ name, line: lineOf(node) });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { imports, uses };
}

/** The node that says what is imported, for every way to import, types included. */
function importOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node)) return node.argument;
  if (ts.isExternalModuleReference(node)) return node.expression;
  if (!ts.isCallExpression(node)) return undefined;
  const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword;
  const isRequire = ts.isIdentifier(node.expression) && node.expression.text === 'require';
  return isImport || isRequire ? (node.arguments[0] ?? node) : undefined;
}

function literalText(node: ts.Node): string | undefined {
  const literal = ts.isLiteralTypeNode(node) ? node.literal : node;
  return ts.isStringLiteralLike(literal) ? literal.text : undefined;
}

function constructOf(node: ts.Node): string | undefined {
  if (ts.isEnumDeclaration(node)) return 'enum';
  if (ts.isExportAssignment(node)) return node.isExportEquals === true ? 'export =' : 'export default';
  if (ts.isExportSpecifier(node) && node.name.text === 'default') return 'export default';
  if (node.kind === ts.SyntaxKind.DefaultKeyword && !ts.isDefaultClause(node.parent)) return 'export default';
  return undefined;
}

function globalUse(node: ts.Node): string | undefined {
  if (ts.isIdentifier(node) && node.text === 'randomUUID') return 'randomUUID';
  const name = globalName(node);
  if (name === undefined) return undefined;
  const { parent } = node;
  if (memberName(parent, node) !== undefined) {
    const member = memberName(parent, node) ?? '';
    // `globalThis.setTimeout` is the use of setTimeout, found when its own node is visited.
    return globalObjects.has(name) ? (watched.has(member) ? undefined : `globalThis.${member}`) : `${name}.${member}`;
  }
  if (globalObjects.has(name)) return 'globalThis';
  if (ts.isNewExpression(parent) && parent.expression === node) {
    return (parent.arguments ?? []).length === 0 ? `new ${name}()` : `new ${name}(…)`;
  }
  if (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword) {
    return parent.right === node ? `instanceof ${name}` : name;
  }
  return ts.isTypeNode(parent) ? `type ${name}` : name;
}

/** The watched global that an expression stands for: `Date`, `globalThis.Date` or `globalThis['Date']`. */
function globalName(node: ts.Node): string | undefined {
  if (ts.isIdentifier(node)) return watched.has(node.text) && !isMemberName(node) ? node.text : undefined;
  if (!ts.isPropertyAccessExpression(node) && !ts.isElementAccessExpression(node)) return undefined;
  const base = node.expression;
  if (!ts.isIdentifier(base) || !globalObjects.has(base.text)) return undefined;
  const member = memberName(node, base);
  return member !== undefined && watched.has(member) ? member : undefined;
}

/** The member that `access` reads from `base`, when its name is in the source. */
function memberName(access: ts.Node, base: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(access) && access.expression === base) return access.name.text;
  if (ts.isQualifiedName(access) && access.left === base) return access.right.text;
  if (ts.isElementAccessExpression(access) && access.expression === base) return literalText(access.argumentExpression);
  return undefined;
}

function isMemberName(id: ts.Identifier): boolean {
  const { parent } = id;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === id;
  if (ts.isQualifiedName(parent)) return parent.right === id;
  if (ts.isBindingElement(parent) || ts.isImportSpecifier(parent)) return parent.propertyName === id;
  if (ts.isExportSpecifier(parent)) return parent.propertyName !== undefined && parent.name === id;
  if (ts.isParameter(parent)) return ts.isFunctionTypeNode(parent.parent) || ts.isMethodSignature(parent.parent);
  if (ts.isNamedTupleMember(parent)) return parent.name === id;
  const isMember =
    ts.isPropertyAssignment(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isGetAccessor(parent) ||
    ts.isSetAccessor(parent);
  return isMember && parent.name === id;
}
