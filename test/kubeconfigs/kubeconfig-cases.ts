import { globSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SimCertificates } from '../../simulator/network/certificates.ts';

/** A kubeconfig as tools and people write them: a file of `fixtures/kubeconfigs`, or a directory of several. */
export interface KubeconfigCase {
  readonly name: string;
  /** Texts by file name. */
  readonly files: Readonly<Record<string, string>>;
  /** Names of the files that are loaded, as $KUBECONFIG lists them. */
  readonly load: readonly string[];
  /** Value of --context, from a comment in the first line. Empty: none. */
  readonly context: string;
}

const directory = fileURLToPath(new URL('fixtures/kubeconfigs', import.meta.url));

const filesOf = (name: string): readonly string[] =>
  statSync(join(directory, name)).isDirectory()
    ? globSync('**/{*,.*/**}', { cwd: join(directory, name) }).filter((file) =>
        statSync(join(directory, name, file)).isFile(),
      )
    : [''];

/** Returns the cases, with certificates and keys in place of `$CA`, `$CERT` and so on. */
export const kubeconfigCases = async (certificates: SimCertificates): Promise<readonly KubeconfigCase[]> => {
  const own = await certificates.client('operator');
  const pems = {
    CA: certificates.ca,
    CERT: own.certificate,
    KEY: own.key,
    OTHER_KEY: (await certificates.client('other')).key,
  };
  const filled = (text: string): string =>
    text.replaceAll(/\$(OTHER_KEY|CA|CERT|KEY)(_PEM)?/g, (_all, name: keyof typeof pems, isPem?: string) =>
      isPem === undefined ? Buffer.from(pems[name]).toString('base64') : pems[name],
    );
  return readdirSync(directory)
    .sort()
    .map((entry) => {
      const files = Object.fromEntries(
        filesOf(entry).map((file) => [
          file === '' ? entry : file,
          filled(readFileSync(join(directory, entry, file), 'utf8')),
        ]),
      );
      const names = Object.keys(files).sort();
      const [only = ''] = names;
      const load = names.length === 1 ? names : names.filter((name) => name.startsWith('config'));
      return {
        name: entry.replace(/\.yaml$/, ''),
        files,
        load,
        context: /^# --context (\S+)/.exec(files[only] ?? '')?.[1] ?? '',
      };
    });
};
