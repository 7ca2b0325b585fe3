import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { type Program, startProgram } from './program.ts';
import { type ProxyOptions, WriteProxy } from './write-proxy.ts';

/** A `dwd prober` that reaches the seed through a proxy of its own. */
export interface ProberBehindProxy {
  readonly proxy: WriteProxy;
  /** As it was started last. */
  program(): Program;
  /** Not while it runs. Of the same flag twice the later counts. */
  start(flags?: readonly string[], env?: Readonly<Record<string, string>>): Program;
  /** If it runs. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface ProberBehindProxyOptions extends ProxyOptions {
  readonly seed: ControlPlane;
  readonly configFile: string;
  /** Takes files. */
  readonly directory: string;
}

export const proberBehindProxy = async (options: ProberBehindProxyOptions): Promise<ProberBehindProxy> => {
  const { seed, configFile, directory, user } = options;
  const proxy = await WriteProxy.start(seed, options);
  const kubeconfig = join(directory, `${user}.kubeconfig`);
  writeFileSync(kubeconfig, proxy.kubeconfig, { mode: 0o600 });
  let program: Program | undefined;
  const kill = async (): Promise<void> => {
    program?.signal('SIGKILL');
    await program?.ended;
  };
  return {
    proxy,
    program: () => {
      if (program === undefined) throw new Error(`${user}: not started`);
      return program;
    },
    start: (flags = [], env = {}) => {
      const files = [`--config-file=${configFile}`, `--kubeconfig=${kubeconfig}`];
      const servers = ['--metrics-bind-addr=0', '--health-bind-addr=0'];
      // A program that starts fills its caches, and waits for nothing.
      const limits = ['--kube-api-qps=100', '--kube-api-burst=200'];
      program = startProgram(['prober', ...files, ...servers, ...limits, ...flags], env);
      return program;
    },
    kill,
    stop: async () => {
      await kill();
      await proxy.stop();
    },
  };
};
