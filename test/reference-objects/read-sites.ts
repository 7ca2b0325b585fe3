import ts from 'typescript';
import { type CheckedProgram, walk } from './program.ts';

/** A place in the source that reads a key of JSON whose shape the compiler does not know. */
export interface ReadSite {
  /** Path relative to the repository. */
  readonly file: string;
  /** Undefined if the source does not determine the key. */
  readonly key: string | undefined;
}

/** True if a value may be a `JsonObject`, which has values of any type under any key. */
const isJsonObject = (checker: ts.TypeChecker, type: ts.Type): boolean =>
  (type.isUnion() ? type.types : [type]).some((member) => {
    const entry = checker.getIndexTypeOfType(member, ts.IndexKind.String);
    return entry !== undefined && (entry.flags & ts.TypeFlags.Unknown) !== 0;
  });

const literalsOf = (type: ts.Type): readonly string[] | undefined => {
  const members = type.isUnion() ? type.types : [type];
  const literals = members.flatMap((member) => (member.isStringLiteral() ? [member.value] : []));
  return literals.length === members.length ? literals : undefined;
};

type Calls = ReadonlyMap<ts.Symbol, readonly ts.CallExpression[]>;

/** Indexes calls by the symbol of the called function. */
const indexCalls = ({ checker, files }: CheckedProgram): Calls => {
  const calls = new Map<ts.Symbol, ts.CallExpression[]>();
  const note = (node: ts.Node): void => {
    if (!ts.isCallExpression(node)) return;
    const symbol = checker.getSymbolAtLocation(node.expression);
    const called = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    if (called !== undefined) calls.set(called, [...(calls.get(called) ?? []), node]);
  };
  for (const file of files) walk(file, note);
  return calls;
};

interface Scope {
  readonly checker: ts.TypeChecker;
  readonly calls: Calls;
}

/** Possible values of an expression that is used as a key, from its type or, for a parameter, from the arguments of the callers. */
const keysOf = (scope: Scope, key: ts.Expression): readonly (string | undefined)[] => {
  const { checker, calls } = scope;
  const literals = literalsOf(checker.getTypeAtLocation(key));
  if (literals !== undefined) return literals;
  const parameter = checker.getSymbolAtLocation(key)?.valueDeclaration;
  if (parameter === undefined || !ts.isParameter(parameter)) return [undefined];
  const { parent } = parameter;
  const declared = ts.isVariableDeclaration(parent.parent) ? parent.parent.name : parent.name;
  const symbol = declared && checker.getSymbolAtLocation(declared);
  const given = (symbol && calls.get(symbol)) ?? [];
  const place = parent.parameters.indexOf(parameter);
  return given.length === 0
    ? [undefined]
    : given.flatMap(({ arguments: passed }) => {
        const argument = passed[place];
        return argument === undefined ? [undefined] : keysOf(scope, argument);
      });
};

const isWritten = (node: ts.Expression): boolean =>
  ts.isBinaryExpression(node.parent) &&
  node.parent.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
  node.parent.left === node;

const keysAt = (scope: Scope, node: ts.Node): readonly (string | undefined)[] => {
  const { checker } = scope;
  const isRead = (object: ts.Node): boolean => isJsonObject(checker, checker.getTypeAtLocation(object));
  /** True if the type declares the key explicitly, which shows that it has been decoded before. */
  const isDeclared = (object: ts.Node, name: string): boolean =>
    checker.getTypeAtLocation(object).getProperty(name) !== undefined;
  if (ts.isPropertyAccessExpression(node)) {
    const { expression, name } = node;
    return isRead(expression) && !isDeclared(expression, name.text) ? [name.text] : [];
  }
  if (ts.isElementAccessExpression(node)) {
    return isRead(node.expression) && !isWritten(node) ? keysOf(scope, node.argumentExpression) : [];
  }
  if (ts.isObjectBindingPattern(node) && isRead(node)) {
    return node.elements
      .filter(({ dotDotDotToken }) => dotDotDotToken === undefined)
      .map(({ name, propertyName = name }) => (ts.isIdentifier(propertyName) ? propertyName.text : undefined))
      .filter((key) => key === undefined || !isDeclared(node, key));
  }
  return [];
};

/** Finds all places of the program that read a key of JSON. */
export const findReadSites = (program: CheckedProgram): readonly ReadSite[] => {
  const scope: Scope = { checker: program.checker, calls: indexCalls(program) };
  const sites: ReadSite[] = [];
  for (const file of program.files) {
    walk(file, (node) => {
      for (const key of keysAt(scope, node)) sites.push({ file: program.nameOf(file), key });
    });
  }
  return sites;
};
