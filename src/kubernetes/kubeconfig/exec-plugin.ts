import type { Clock } from '../../ports/clock.ts';
import type { JsonObject } from '../api/decode.ts';
import { ApiError } from '../api/errors.ts';
import { createScope } from '../client/index.ts';
import type { ExecConfig } from './exec-config.ts';
import { type ExecCredential, parseCredential } from './exec-credential.ts';
import { type Command, runCommand } from './run-command.ts';

const pluginTimeoutMs = 60_000;

export interface ExecPlugin {
  /** The credential of now, the same object until it expires or is forgotten. Rejects with an ApiError, and with the signal's reason. */
  current(signal: AbortSignal): Promise<ExecCredential>;
  forget(): void;
}

const whyFailed = (error: unknown, { installHint }: ExecConfig): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const hint = installHint === '' ? '' : `; ${installHint.replaceAll(/\s+/g, ' ').trim()}`;
  if (code === 'ENOENT') return `there is no such program${hint}`;
  return error instanceof Error ? error.message : 'it failed';
};

export interface ExecPluginOptions {
  readonly config: ExecConfig;
  /** Environment of this process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Goes to the plugin when it asks for it. */
  readonly clusterInfo: JsonObject;
}

/** The credential plugin of the operator's kubeconfig. Runs once for all who ask at the same time. */
export const createExecPlugin = ({ config, env, clock, clusterInfo }: ExecPluginOptions): ExecPlugin => {
  let known: ExecCredential | undefined;
  let running: Promise<ExecCredential> | undefined;
  const info = {
    apiVersion: config.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(config.provideClusterInfo ? { cluster: clusterInfo } : {}) },
  };
  const command: Command = {
    command: config.command,
    args: config.args,
    env: { ...env, ...config.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
  };

  const run = async (): Promise<ExecCredential> => {
    const scope = createScope({
      signal: new AbortController().signal,
      clock,
      timeoutMs: pluginTimeoutMs,
      onTimeout: () => new Error(`it took longer than ${pluginTimeoutMs} ms`),
    });
    try {
      known = parseCredential(await runCommand(command, scope.signal), config.apiVersion);
      return known;
    } catch (error) {
      const message = `${config.path}: the credential plugin ${config.command} failed: ${whyFailed(error, config)}`;
      throw new ApiError({ code: 'ConnectionError', message });
    } finally {
      scope.end();
      running = undefined;
    }
  };

  return {
    current: async (signal) => {
      if (known?.expiresAt !== undefined && clock.now() >= known.expiresAt) known = undefined;
      if (known !== undefined) return known;
      running ??= run();
      return untilAborted(running, signal);
    },
    forget: () => {
      known = undefined;
    },
  };
};

/** Settles like `promise`, or rejects with the signal's reason as soon as it aborts. */
const untilAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
