import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RbacRule } from '../../envtest/access.ts';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { freePorts } from '../../envtest/processes.ts';
import { waitFor } from '../../envtest/waiting.ts';
import { type Program, startProgram } from './program.ts';
import { type SwallowingProxy, startSwallowingProxy } from '../../envtest/swallowing-proxy.ts';

/** A `dwd` behind a proxy that can drop the bytes on its connections. */
export interface Watcher {
  readonly user: string;
  readonly proxy: SwallowingProxy;
  readonly program: Program;
  readyz(): Promise<{ readonly status: number; readonly body: string }>;
  /** Returns `dwd_watch_age_seconds` by its labels. */
  ages(): Promise<ReadonlyMap<string, number>>;
  stop(): Promise<void>;
}

export interface WatcherOptions {
  readonly component: 'prober' | 'weeder';
  readonly user: string;
  readonly seed: ControlPlane;
  readonly rules: readonly RbacRule[];
  /** Text of the configuration. */
  readonly config: string;
  readonly directory: string;
}

export const startWatcher = async (options: WatcherOptions): Promise<Watcher> => {
  const { component, user, seed, rules, config, directory } = options;
  const proxy = await startSwallowingProxy(seed);
  const access = await seed.kubeconfigFor({ user, rules });
  const [configFile, kubeconfig] = [join(directory, `${user}.yaml`), join(directory, `${user}.kubeconfig`)];
  writeFileSync(configFile, config);
  writeFileSync(kubeconfig, access.text.replace(seed.url, `https://127.0.0.1:${String(proxy.port)}`), { mode: 0o600 });
  const [metricsPort = 0, healthPort = 0] = await freePorts(2);
  const program = startProgram([
    component,
    `--config-file=${configFile}`,
    `--kubeconfig=${kubeconfig}`,
    `--metrics-bind-addr=127.0.0.1:${String(metricsPort)}`,
    `--health-bind-addr=127.0.0.1:${String(healthPort)}`,
  ]);
  const readyz: Watcher['readyz'] = async () => {
    const answer = await fetch(`http://127.0.0.1:${String(healthPort)}/readyz`);
    return { status: answer.status, body: await answer.text() };
  };
  const ages: Watcher['ages'] = async () => {
    const text = await (await fetch(`http://127.0.0.1:${String(metricsPort)}/metrics`)).text();
    const series = text.matchAll(/^dwd_watch_age_seconds\{(?<labels>.*)\} (?<age>\S+)$/gm);
    return new Map(Array.from(series, ({ groups }) => [groups?.labels ?? '', Number(groups?.age)]));
  };
  await waitFor(
    { what: `${user} to be ready`, withinMs: 60_000, detail: program.output },
    async () => (await readyz().catch(() => undefined))?.status === 200,
  );
  return {
    user,
    proxy,
    program,
    readyz,
    ages,
    stop: async () => {
      program.signal('SIGKILL');
      await Promise.all([program.ended, proxy.stop()]);
    },
  };
};
