import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { cycles } from './cycles.ts';
import {
  type FolderRule,
  bans,
  clockFiles,
  clockModules,
  house,
  machinePath,
  processFiles,
  processModules,
  pureExceptions,
  pureFiles,
  randomFiles,
  testFiles,
} from './rules.ts';
import { type Import, type Scan, type Use, scan } from './scan.ts';

export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly message: string;
}

interface SourceFile extends Scan {
  readonly path: string;
  /** Its key in the table; undefined outside src/ and for what the table does not know. */
  readonly folder: string | undefined;
  readonly isTest: boolean;
}

export function format({ file, line, rule, message }: Violation): string {
  return `${file}:${line}: ${message} [${rule}]`;
}

/** Checks a tree of path -> text, with paths from the root of the repository. What is not TypeScript is only read as text. */
export function check(tree: ReadonlyMap<string, string>): readonly Violation[] {
  const files = [...tree]
    .filter(([path]) => path.endsWith('.ts'))
    .map(([path, text]) => ({
      ...scan(path, text),
      path,
      folder: folderOf(path),
      isTest: path.endsWith('.test.ts') || path.includes('/testing/'),
    }));
  const violations = [
    ...files.flatMap((file) => [...importViolations(file, tree), ...useViolations(file)]),
    ...cycleViolations(files),
    ...[...tree].flatMap(([path, text]) => machinePaths(path, text)),
  ];
  return violations.sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
}

/** Whether the table speaks of it. */
function isOurs(path: string): boolean {
  return path.startsWith('src/') || path.startsWith('simulator/');
}

function folderOf(path: string): string | undefined {
  return Object.keys(house).find((key) => path === key || path.startsWith(`${key}/`));
}

function importViolations(file: SourceFile, tree: ReadonlyMap<string, string>): readonly Violation[] {
  if (!isOurs(file.path)) return [];
  const rule = file.folder === undefined ? undefined : house[file.folder];
  if (file.folder === undefined || rule === undefined) {
    return [{ file: file.path, line: 1, rule: 'house', message: `is in no folder of the table` }];
  }
  const grants = grantsOf(file, file.folder, rule);
  return file.imports.flatMap((imported) => {
    const refusal = refusalOf(file, imported, grants, tree);
    return refusal === undefined ? [] : [{ file: file.path, line: imported.line, ...refusal }];
  });
}

function grantsOf(file: SourceFile, folder: string, rule: FolderRule): Required<Omit<FolderRule, 'files' | 'open'>> {
  const ofFile = rule.files?.[file.path.slice(`${folder}/`.length)] ?? [];
  const forTests = file.isTest ? testFiles : { folders: [] };
  return {
    folders: [...rule.folders, ...forTests.folders],
    packages: [...(rule.packages ?? []), ...(forTests.packages ?? [])],
    builtins: [...(rule.builtins ?? []), ...(forTests.builtins ?? []), ...ofFile],
  };
}

function refusalOf(
  file: SourceFile,
  { specifier }: Import,
  grants: ReturnType<typeof grantsOf>,
  tree: ReadonlyMap<string, string>,
): Pick<Violation, 'rule' | 'message'> | undefined {
  const folder = file.folder ?? '';
  if (specifier === undefined) return { rule: 'imports', message: 'imports a computed path, which cannot be checked' };
  if (isBuiltin(specifier)) {
    const name = builtinName(specifier);
    return matches(name, grants.builtins)
      ? undefined
      : { rule: 'imports', message: `${folder} may not import ${name}` };
  }
  if (!specifier.startsWith('.')) {
    const name = packageName(specifier);
    return matches(name, grants.packages)
      ? undefined
      : { rule: 'imports', message: `${folder} may not import the package ${name}` };
  }
  const target = resolve(file.path, specifier);
  const targetFolder = folderOf(target);
  if (file.isTest && tree.has(target)) return undefined;
  if (targetFolder === undefined) {
    return { rule: 'imports', message: `${folder} may not import ${target}, which is in no folder of the table` };
  }
  if (targetFolder !== folder) {
    if (!grants.folders.includes(targetFolder)) {
      return { rule: 'imports', message: `${folder} may not import ${targetFolder} (${target})` };
    }
    if (house[targetFolder]?.open !== true && target !== `${targetFolder}/index.ts`) {
      return { rule: 'door', message: `imports ${target}; the door is ${targetFolder}/index.ts` };
    }
  }
  const isData = /\.(?!ts$|js$|mjs$)\w+$/.test(target);
  return isData || tree.has(target)
    ? undefined
    : { rule: 'imports', message: `imports ${target}, which does not exist` };
}

function useViolations(file: SourceFile): readonly Violation[] {
  const { path } = file;
  const inSource = isOurs(path) && !file.isTest;
  const at = (rule: string, because: string) => (use: Use) => ({
    file: path,
    line: use.line,
    rule,
    message: `uses ${use.name}: ${because}`,
  });
  const style = file.uses.filter((use) => matches(use.name, bans.style)).map(at('style', 'not here'));
  if (!inSource) return style;

  // Importing one of Node's modules for it counts as a use.
  const modules = file.imports.flatMap(({ specifier, line }) =>
    specifier !== undefined && isBuiltin(specifier) ? [{ name: builtinName(specifier), line }] : [],
  );
  const uses = [...file.uses, ...modules];
  const banned = (names: readonly string[]) => uses.filter((use) => matches(use.name, names));
  const violations = [...style];
  if (pureFiles.some((pattern) => pattern.test(path))) {
    const impure = banned(bans.pure).filter((use) => !pureExceptions.includes(use.name));
    return [...violations, ...impure.map(at('pure', 'this file is pure; take the value as an argument'))];
  }
  if (!clockFiles.includes(path)) {
    violations.push(...banned([...bans.clock, ...clockModules]).map(at('clock', 'time goes through the Clock port')));
  }
  if (!randomFiles.includes(path)) {
    violations.push(...banned(bans.random).map(at('random', 'random numbers go through the Random port')));
  }
  if (!processFiles.includes(path)) {
    violations.push(...banned([...bans.process, ...processModules]).map(at('process', 'only src/main.ts touches it')));
  }
  return violations;
}

function cycleViolations(files: readonly SourceFile[]): readonly Violation[] {
  const targets = (file: SourceFile) =>
    file.imports.flatMap(({ specifier, line }) =>
      specifier?.startsWith('.') === true ? [{ path: resolve(file.path, specifier), line }] : [],
    );
  const graph = new Map(files.map((file) => [file.path, targets(file).map(({ path }) => path)]));
  return cycles(graph).map((cycle) => {
    const [first = '', second = first] = cycle;
    const importer = files.find(({ path }) => path === first);
    const line = importer === undefined ? 1 : (targets(importer).find(({ path }) => path === second)?.line ?? 1);
    return { file: first, line, rule: 'cycle', message: `imports itself: ${[...cycle, first].join(' -> ')}` };
  });
}

function machinePaths(path: string, text: string): readonly Violation[] {
  return text.split('\n').flatMap((content, index) => {
    const found = machinePath.exec(content);
    if (found === null) return [];
    return [
      { file: path, line: index + 1, rule: 'machine', message: `contains a path of one machine: ${content.trim()}` },
    ];
  });
}

function resolve(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier);
}

function builtinName(specifier: string): string {
  return specifier.startsWith('node:') ? specifier : `node:${specifier}`;
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function matches(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}
