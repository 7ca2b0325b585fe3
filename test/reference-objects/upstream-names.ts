import ts from 'typescript';
import { type CheckedProgram, walk } from './program.ts';

/** A string literal in the source that has a meaning for other programs. */
export interface UpstreamName {
  /** Path relative to the repository. */
  readonly file: string;
  readonly text: string;
}

/** True if the type accepts any string, not only literals that the compiler checks. */
const takesAnyText = (type: ts.Type): boolean =>
  (type.isUnion() ? type.types : [type]).some(
    ({ flags }) => (flags & (ts.TypeFlags.String | ts.TypeFlags.Unknown)) !== 0,
  );

/** Matches names such as `ResourcesApplied` and `worker.gardener.cloud/pool`. */
const looksLikeName = (text: string): boolean => /^[A-Z][A-Za-z]+$|^[a-z\d.-]+\.[a-z]+\/[a-z\d-]+$/.test(text);

/** Matches names of objects such as `etcd-main`. */
const looksLikeObject = (text: string): boolean => /^[a-z]+(?:-[a-z]+)+$/.test(text);

const equalities = new Set([ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.ExclamationEqualsEqualsToken]);

/** True if the literal is compared with any text, as in `purpose === 'testing'`. */
const isCompared = (checker: ts.TypeChecker, node: ts.StringLiteral): boolean => {
  const { parent } = node;
  if (ts.isBinaryExpression(parent) && equalities.has(parent.operatorToken.kind)) {
    return takesAnyText(checker.getTypeAtLocation(parent.left === node ? parent.right : parent.left));
  }
  return ts.isCaseClause(parent) && takesAnyText(checker.getTypeAtLocation(parent.parent.parent.expression));
};

const isUpstreamName = ({ checker, nameOf }: CheckedProgram, file: ts.SourceFile, node: ts.StringLiteral): boolean => {
  const { text, parent } = node;
  if (
    text.length < 2 ||
    ts.isImportDeclaration(parent) ||
    ts.isExportDeclaration(parent) ||
    ts.isLiteralTypeNode(parent)
  ) {
    return false;
  }
  if (isCompared(checker, node)) return true;
  const type = checker.getContextualType(node);
  if (type === undefined) return looksLikeName(text);
  if (!takesAnyText(type)) return false;
  // Care identifies Deployments and other objects by their names.
  return looksLikeName(text) || (nameOf(file).startsWith('src/care/') && looksLikeObject(text));
};

const isOfControllers = (file: string): boolean =>
  /^src\/(?:kubernetes\/(?:api|protobuf|leaderelection)|gardener|annotations|prober|weeder|care|healthcheck)\//.test(
    file,
  ) && !/\/(?:rights|setup|sources|generation|process|component)\.ts$/.test(file);

/** Finds all names of upstream's conditions, reasons, states, labels and objects in the source of the controllers and of the folders they import. */
export const findUpstreamNames = (program: CheckedProgram): readonly UpstreamName[] =>
  program.files
    .filter((file) => isOfControllers(program.nameOf(file)))
    .flatMap((file) => {
      const names: UpstreamName[] = [];
      walk(file, (node) => {
        if (!ts.isStringLiteral(node) || !isUpstreamName(program, file, node)) return;
        names.push({ file: program.nameOf(file), text: node.text });
      });
      return names;
    });
