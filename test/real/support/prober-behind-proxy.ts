import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { type Program, startProgram } from './program.ts';
import { type ProxyOptions, WriteProxy } from './write-proxy.ts';

/** A `dwd prober` that reaches the seed as a user of its own, through its own proxy. */
export interface ProberBehindProxy {
  readonly user: string;
  readonly proxy: WriteProxy;
  /** Returns the latest program. */
  program(): Program;
  /** Starts the program, as a pod is restarted. It must not be running. */
  start(): Program;
  /** Kills the program if it runs. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface ProberBehindProxyOptions extends ProxyOptions {
  readonly seed: ControlPlane;
  readonly configFile: string;
  /** Directory for the test's files. */
  readonly directory: string;
  /** A later flag overrides an earlier one. */
  readonly flags?: readonly string[];
}

export const proberBehindProxy = async (options: ProberBehindProxyOptions): Promise<ProberBehindProxy> => {
  const { seed, configFile, directory, user, flags = [] } = options;
  const proxy = await WriteProxy.start(seed, options);
  const kubeconfig = join(directory, `${user}.kubeconfig`);
  writeFileSync(kubeconfig, proxy.kubeconfig, { mode: 0o600 });
  let program: Program | undefined;
  const kill = async (): Promise<void> => {
    program?.signal('SIGKILL');
    await program?.ended;
  };
  return {
    ...{ user, proxy, kill },
    program: () => {
      if (program === undefined) throw new Error(`${user}: not started`);
      return program;
    },
    start: () => {
      const files = [`--config-file=${configFile}`, `--kubeconfig=${kubeconfig}`];
      const servers = ['--metrics-bind-addr=0', '--health-bind-addr=0'];
      // High limits, so that a starting program does not wait for the rate limiter.
      const limits = ['--kube-api-qps=100', '--kube-api-burst=200'];
      program = startProgram(['prober', ...files, ...servers, ...limits, ...flags]);
      return program;
    },
    stop: async () => {
      await kill();
      await proxy.stop();
    },
  };
};
