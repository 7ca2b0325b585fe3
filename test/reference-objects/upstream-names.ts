import ts from 'typescript';
import { type CheckedProgram, walk } from './program.ts';

/** A text of the source that means something to others. */
export interface UpstreamName {
  /** Relative to the repository. */
  readonly file: string;
  readonly text: string;
}

/** Whether a place of that type takes any text, and not one of a few that the compiler knows. */
const takesAnyText = (type: ts.Type): boolean =>
  (type.isUnion() ? type.types : [type]).some(
    ({ flags }) => (flags & (ts.TypeFlags.String | ts.TypeFlags.Unknown)) !== 0,
  );

/** `ResourcesApplied`; `worker.gardener.cloud/pool` */
const looksLikeName = (text: string): boolean => /^[A-Z][A-Za-z]+$|^[a-z\d.-]+\.[a-z]+\/[a-z\d-]+$/.test(text);

/** `etcd-main` */
const looksLikeObject = (text: string): boolean => /^[a-z]+(?:-[a-z]+)+$/.test(text);

const equalities = new Set([ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.ExclamationEqualsEqualsToken]);

/** `purpose === 'testing'` */
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
  // Care knows Deployments and others by their names.
  return looksLikeName(text) || (nameOf(file).startsWith('src/care/') && looksLikeObject(text));
};

const isOfControllers = (file: string): boolean =>
  /^src\/(?:kubernetes\/(?:api|protobuf|leaderelection)|gardener|prober|weeder|care|healthcheck)\//.test(file) &&
  !/\/(?:rights|setup|sources|generation|process|held|release-held|release-result|watch-dependent|api-server-watch|pod-watches)\.ts$/.test(
    file,
  );

/** All names of others' conditions, reasons, states, labels and objects that the controllers and what they are made of spell out. */
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
