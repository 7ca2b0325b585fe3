import { abortable, runInScope } from '../transport/index.ts';
import { spawn } from 'node:child_process';
import { isAbsolute, join } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import { type JsonObject, decodeObject, optionalObject, optionalString } from '../api/decode.ts';
import { ApiError, KubeconfigError } from '../api/errors.ts';
import type { Environment } from './environment-proxy.ts';
import * as fields from './fields.ts';

const supportedVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

/** `exec` of a user entry (client-go `tools/clientcmd/api/v1`, ExecConfig). */
interface ExecConfig {
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

/** Resolves a relative path from the kubeconfig's directory; a bare name stays, and is searched in PATH. */
const resolveCommand = (command: string, directory: string): string =>
  command.includes('/') && !isAbsolute(command) ? join(directory, command) : command;

/** Parses `exec` of a file in `directory`. Throws a KubeconfigError. */
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

/** Credential from a plugin (client-go `pkg/apis/clientauthentication/v1`, ExecCredentialStatus). */
export interface ExecCredential {
  readonly token?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
}

/** Parses the output of a plugin. Throws an Error whose message does not quote it. */
export const parseCredential = (text: string, apiVersion: string): ExecCredential => {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error('its output is not JSON');
  }
  const credential = decodeObject(json, 'ExecCredential');
  if (credential.kind !== 'ExecCredential') throw new Error('its output is no ExecCredential');
  if (credential.apiVersion !== apiVersion) throw new Error(`its answer is of another version than ${apiVersion}`);
  const status: JsonObject = optionalObject(credential.status, 'status') ?? {};
  const textOf = (field: string): string | undefined => optionalString(status[field], `status.${field}`) || undefined;
  const [token, cert, key] = [textOf('token'), textOf('clientCertificateData'), textOf('clientKeyData')];
  if (token === undefined && cert === undefined && key === undefined) {
    throw new Error('it gave neither a token nor a certificate');
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error('it gave a certificate without its key, or the reverse');
  }
  const expiry = textOf('expirationTimestamp');
  const expiresAt = expiry === undefined ? undefined : Date.parse(expiry);
  if (Number.isNaN(expiresAt)) throw new Error('its expirationTimestamp is not a time');
  return { token, cert, key, expiresAt };
};

const mostOutputBytes = 1024 * 1024;

/**
 * Runs a program without a shell and resolves with its standard output; its standard error goes to ours. Aborting kills it.
 * Rejects with the signal's reason, or an error whose `code` is Node's (ENOENT: no such program), `EXIT` or `EOUTPUT`.
 */
const runCommand = ({ command, args }: ExecConfig, env: Environment, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
      windowsHide: true,
      signal,
      killSignal: 'SIGKILL',
    });
    const chunks: Buffer[] = [];
    let length = 0;
    const fail = (error: unknown): void => {
      child.kill('SIGKILL');
      // Processes that it has started may outlive it and go on writing.
      child.stdout.destroy();
      reject(signal.aborted ? signal.reason : error);
    };
    child.on('error', fail);
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length > mostOutputBytes) fail(Object.assign(new Error('wrote more than 1 MiB'), { code: 'EOUTPUT' }));
    });
    child.on('close', (status, killedBy) => {
      if (status === 0) resolve(Buffer.concat(chunks).toString('utf8'));
      else fail(Object.assign(new Error(`ended with ${String(killedBy ?? status)}`), { code: 'EXIT' }));
    });
  });

const pluginTimeoutMs = 60_000;

export interface ExecPlugin {
  /** Resolves with the current credential, the same object until it expires or `forget` drops it. Rejects with an ApiError, and with the signal's reason. */
  current(signal: AbortSignal): Promise<ExecCredential>;
  forget(): void;
}

const whyFailed = (error: unknown, { installHint }: ExecConfig): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const hint = installHint === '' ? '' : `; ${installHint.replaceAll(/\s+/g, ' ').trim()}`;
  if (code === 'ENOENT') return `there is no such program${hint}`;
  return error instanceof Error ? error.message : 'it failed';
};

interface ExecPluginOptions {
  readonly config: ExecConfig;
  /** Environment of this process. */
  readonly env: Environment;
  readonly clock: Clock;
  /** Passed to the plugin if `provideClusterInfo` is set. */
  readonly clusterInfo: JsonObject;
}

/** Creates the credential plugin of the operator's kubeconfig. Callers at the same time share one run of it. */
export const createExecPlugin = ({ config, env, clock, clusterInfo }: ExecPluginOptions): ExecPlugin => {
  let known: ExecCredential | undefined;
  let running: Promise<ExecCredential> | undefined;
  const info = {
    apiVersion: config.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(config.provideClusterInfo ? { cluster: clusterInfo } : {}) },
  };
  const pluginEnv = { ...env, ...config.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) };

  const run = async (): Promise<ExecCredential> => {
    const scope = {
      signal: new AbortController().signal,
      clock,
      timeoutMs: pluginTimeoutMs,
      onTimeout: () => new Error(`it took longer than ${pluginTimeoutMs} ms`),
    };
    try {
      known = parseCredential(
        await runInScope(scope, (signal) => runCommand(config, pluginEnv, signal)),
        config.apiVersion,
      );
      return known;
    } catch (error) {
      const message = `${config.path}: the credential plugin ${config.command} failed: ${whyFailed(error, config)}`;
      throw new ApiError({ code: 'ConnectionError', message });
    } finally {
      running = undefined;
    }
  };

  return {
    current: async (signal) => {
      if (known?.expiresAt !== undefined && clock.now() >= known.expiresAt) known = undefined;
      if (known !== undefined) return known;
      const underWay = (running ??= run());
      return abortable(signal, (resolve, reject) => {
        underWay.then(resolve, reject);
        return () => undefined;
      });
    },
    forget: () => {
      known = undefined;
    },
  };
};
