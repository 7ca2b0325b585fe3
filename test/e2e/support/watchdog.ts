import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ControlPlane, freePorts } from '../../envtest/index.ts';
import { type Program, startProgram } from './program.ts';
import { seedRules } from './shoot.ts';
import { startWriteProxy, type WriteProxy } from './write-proxy.ts';

const clusterLabel = 'test-watchdog';
const freshMs = 200;
const scrapeTimeoutMs = 10_000;
const wallClock = new URL('./wall-clock.ts', import.meta.url).href;

/** A `dwd prober` that sees its own Clusters of a shared seed only, behind a proxy of its own. */
export interface Watchdog {
  readonly name: string;
  /** As whom it reaches the seed. */
  readonly user: string;
  readonly proxy: WriteProxy;
  /** Of the Clusters that are its own. */
  readonly clusterLabels: Readonly<Record<string, string>>;
  program(): Program;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Sets its wall clock wrong by so many milliseconds, running or not. */
  shiftClock(ms: number): void;
  /** How many of its probe runs ended how, of the shoot of that namespace, since it was started. */
  results(namespace: string): Promise<ReadonlyMap<string, number>>;
  /** The longest that its event loop was held since it was asked before: the machine's doing or its own. */
  loopLagMs(): Promise<number>;
  stop(): Promise<void>;
}

export interface WatchdogOptions {
  readonly name: string;
  readonly seed: ControlPlane;
  readonly configFile: string;
  /** Takes files. */
  readonly directory: string;
}

const parseResults = (metrics: string, namespace: string): ReadonlyMap<string, number> =>
  new Map(
    Array.from(
      metrics.matchAll(
        new RegExp(`^dwd_prober_runs_total\\{namespace="${namespace}",result="(\\w+)"\\} (\\d+)$`, 'gm'),
      ),
      ([, result = '', count]) => [result, Number(count)],
    ),
  );

export const createWatchdog = async (options: WatchdogOptions): Promise<Watchdog> => {
  const { name, seed, configFile, directory } = options;
  const user = `dwd-${name}`;
  const onlyClusters = { labelSelector: `${clusterLabel}=${name}` };
  const proxy = await startWriteProxy(seed, { user, rules: seedRules, onlyClusters });
  const [kubeconfig, shiftFile] = [join(directory, `${name}.kubeconfig`), join(directory, `${name}.shift`)];
  writeFileSync(kubeconfig, proxy.kubeconfig, { mode: 0o600 });
  writeFileSync(shiftFile, '0');
  let metricsPort = 0;
  let metrics = { at: Number.NEGATIVE_INFINITY, text: Promise.resolve('') };
  let program: Program | undefined;
  const running = (): Program => {
    if (program === undefined) throw new Error(`${name}: not started`);
    return program;
  };
  const scrape = async (): Promise<string> => {
    try {
      const url = `http://127.0.0.1:${String(metricsPort)}/metrics`;
      return await (await fetch(url, { signal: AbortSignal.timeout(scrapeTimeoutMs) })).text();
    } catch {
      return '';
    }
  };
  const kill = async (): Promise<void> => {
    program?.signal('SIGKILL');
    await program?.ended;
  };
  return {
    name,
    user,
    proxy,
    clusterLabels: { [clusterLabel]: name },
    program: running,
    start: async () => {
      [metricsPort = 0] = await freePorts(1);
      metrics = { at: Number.NEGATIVE_INFINITY, text: Promise.resolve('') };
      program = startProgram(
        [
          'prober',
          `--config-file=${configFile}`,
          `--kubeconfig=${kubeconfig}`,
          `--metrics-bind-addr=127.0.0.1:${String(metricsPort)}`,
          '--health-bind-addr=0',
          '--kube-api-qps=100',
          '--kube-api-burst=200',
        ],
        { NODE_OPTIONS: `--import=${wallClock}`, WALL_CLOCK_SHIFT_FILE: shiftFile },
      );
    },
    kill,
    shiftClock: (ms) => {
      // The program never sees half a number.
      writeFileSync(`${shiftFile}.new`, String(ms));
      renameSync(`${shiftFile}.new`, shiftFile);
    },
    results: async (namespace) => {
      // Many shoots are asked for at a time.
      const at = performance.now();
      if (at - metrics.at > freshMs) metrics = { at, text: scrape() };
      return parseResults(await metrics.text, namespace);
    },
    loopLagMs: async () => {
      const [, seconds = ''] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await scrape()) ?? [];
      return Math.round(Number(seconds) * 1_000);
    },
    stop: async () => {
      await kill();
      await proxy.stop();
    },
  };
};
