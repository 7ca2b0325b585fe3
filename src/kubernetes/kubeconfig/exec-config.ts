import { isAbsolute, join } from 'node:path';
import { KubeconfigError } from '../api/errors.ts';
import * as fields from './fields.ts';

const supportedVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

/** `exec` of a user entry (client-go `tools/clientcmd/api/v1`, ExecConfig). */
export interface ExecConfig {
  /** Field path for messages. */
  readonly path: string;
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly provideClusterInfo: boolean;
  readonly installHint: string;
}

const parseEnv = (field: fields.Field): Readonly<Record<string, string>> => {
  const pairs = fields.asList(field).map((entry) => {
    const pair = fields.asObject(entry);
    const name = fields.asText(fields.member(pair, entry.path, 'name'));
    if (name === undefined) throw new KubeconfigError(`${entry.path}.name`, 'is not set');
    return [name, fields.asText(fields.member(pair, entry.path, 'value')) ?? ''] as const;
  });
  return Object.fromEntries(pairs);
};

/** A bare name is looked up in PATH, a relative path from the kubeconfig's directory. */
const resolveCommand = (command: string, directory: string): string =>
  command.includes('/') && !isAbsolute(command) ? join(directory, command) : command;

/** Reads `exec` of a file in `directory`. Throws a KubeconfigError. */
export const parseExecConfig = (exec: fields.Field, directory: string): ExecConfig => {
  const object = fields.asObject(exec);
  const field = (name: string): fields.Field => fields.member(object, exec.path, name);
  const required = (name: string): string => {
    const text = fields.asText(field(name));
    if (text === undefined) throw new KubeconfigError(field(name).path, 'is not set');
    return text;
  };
  const apiVersion = required('apiVersion');
  if (!supportedVersions.includes(apiVersion)) {
    throw new KubeconfigError(field('apiVersion').path, `must be one of ${supportedVersions.join(', ')}`);
  }
  if (fields.asText(field('interactiveMode')) === 'Always') {
    throw new KubeconfigError(field('interactiveMode').path, 'is Always, but nobody is here to answer the plugin');
  }
  return {
    path: exec.path,
    apiVersion,
    command: resolveCommand(required('command'), directory),
    args: fields.asList(field('args')).map((argument) => fields.asText(argument) ?? ''),
    env: parseEnv(field('env')),
    provideClusterInfo: fields.asFlag(field('provideClusterInfo')),
    installHint: fields.asText(field('installHint')) ?? '',
  };
};
