import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Source files of the program that read objects of other programs, with their type checker. */
export interface CheckedProgram {
  readonly checker: ts.TypeChecker;
  readonly files: readonly ts.SourceFile[];
  /** Returns the path of a file relative to the repository. */
  readonly nameOf: (file: ts.SourceFile) => string;
}

/** True for files that read objects of other programs. The simulator reads its own objects, and schemas check configurations. */
const isRead = (file: string): boolean =>
  file.startsWith('src/') && !/^src\/(?:config|cli)\/|^src\/[a-z]+\/config(?:[a-z-]*\.ts$|\/)|\.test\.ts$/.test(file);

export const loadProgram = (): CheckedProgram => {
  const entries = ['prober', 'weeder', 'care', 'healthcheck', 'telemetry'].map(
    (folder) => `${root}src/${folder}/index.ts`,
  );
  const config = ts.readConfigFile(`${root}tsconfig.json`, (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config.config, { ...ts.sys, readDirectory: () => [] }, root);
  const program = ts.createProgram(entries, { ...options, types: ['node'], skipLibCheck: true });
  const nameOf = ({ fileName }: ts.SourceFile): string => relative(root, fileName);
  return {
    checker: program.getTypeChecker(),
    files: program.getSourceFiles().filter((file) => isRead(nameOf(file))),
    nameOf,
  };
};

export const walk = (node: ts.Node, visit: (node: ts.Node) => void): void => {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
};
