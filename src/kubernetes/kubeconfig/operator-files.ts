import { dirname, isAbsolute, join } from 'node:path';
import { KubeconfigError } from '../api/errors.ts';
import { operatorLimits, parseBounded } from './document.ts';
import { type Named, findEntry, namedEntries } from './entries.ts';
import { type Files, isMissing, whyUnreadable } from './files.ts';
import * as fields from './fields.ts';

/** An entry and the file it stands in, to which its relative paths refer. */
export interface OperatorEntry extends Named {
  readonly directory: string;
}

/** The parts of the current context. */
export interface OperatorContext {
  readonly cluster: OperatorEntry;
  readonly user: OperatorEntry;
  readonly namespace: string | undefined;
}

interface OneFile {
  readonly clusters: readonly OperatorEntry[];
  readonly users: readonly OperatorEntry[];
  readonly contexts: readonly OperatorEntry[];
  readonly current: fields.Field;
}

const parseFile = (text: string, file: string): OneFile => {
  const located = (entries: readonly Named[]): readonly OperatorEntry[] =>
    entries.map((entry) => ({ ...entry, path: `${file}: ${entry.path}`, directory: dirname(file) }));
  try {
    const root = fields.asObject({ path: 'document', value: parseBounded(text, operatorLimits) });
    const current = fields.member(root, '', 'current-context');
    fields.asText(current);
    return {
      clusters: located(namedEntries(root, 'clusters', 'cluster')),
      users: located(namedEntries(root, 'users', 'user')),
      contexts: located(namedEntries(root, 'contexts', 'context')),
      current: { ...current, path: `${file}: ${current.path}` },
    };
  } catch (error) {
    if (error instanceof KubeconfigError) throw new KubeconfigError(`${file}: ${error.field}`, error.problem);
    throw error;
  }
};

const readFileOrSkip = async (files: Files, file: string): Promise<OneFile | undefined> => {
  let text: string;
  try {
    text = await files.read(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new KubeconfigError(file, whyUnreadable(error));
  }
  return parseFile(text, file);
};

/**
 * Reads and merges kubeconfig files as kubectl does (client-go `tools/clientcmd/loader.go`): of each name the first file's entry, of
 * current-context the first that is set; files that do not exist are skipped. Undefined when none exists. Throws a KubeconfigError.
 */
export const loadContext = async (files: Files, paths: readonly string[]): Promise<OperatorContext | undefined> => {
  const found: OneFile[] = [];
  for (const path of paths) {
    const file = await readFileOrSkip(files, path);
    if (file !== undefined) found.push(file);
  }
  const [first] = found;
  if (first === undefined) return undefined;
  const current = found.find((file) => fields.isSet(file.current.value))?.current ?? first.current;
  const context = findEntry(
    found.flatMap((file) => file.contexts),
    current,
  );
  const member = (name: string): fields.Field => fields.member(context.body, context.path, name);
  return {
    cluster: findEntry(
      found.flatMap((file) => file.clusters),
      member('cluster'),
    ),
    user: findEntry(
      found.flatMap((file) => file.users),
      member('user'),
    ),
    namespace: fields.asText(member('namespace')),
  };
};

/** The path in a field, as seen from the file it stands in; undefined when not set. */
export const asPath = (entry: OperatorEntry, name: string): string | undefined => {
  const path = fields.asText(fields.member(entry.body, entry.path, name));
  return path === undefined || isAbsolute(path) ? path : join(entry.directory, path);
};
