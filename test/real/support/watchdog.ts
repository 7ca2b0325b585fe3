import type { ControlPlane } from '../../envtest/control-plane.ts';
import { freePorts } from '../../envtest/processes.ts';
import { seedRules } from '../../envtest/shoot.ts';
import { type ProberBehindProxy, proberBehindProxy } from './prober-behind-proxy.ts';

const clusterLabel = 'test-watchdog';
const freshMs = 200;
const scrapeTimeoutMs = 10_000;

/** A watchdog that sees only its own Clusters of a shared seed. */
export interface Watchdog extends Omit<ProberBehindProxy, 'start'> {
  readonly name: string;
  /** Its user in the seed. */
  readonly user: string;
  /** Labels of its own Clusters. */
  readonly clusterLabels: Readonly<Record<string, string>>;
  start(): Promise<void>;
  /** Returns the number of runs for the shoot of a namespace since the start, by result. */
  results(namespace: string): Promise<Results>;
}

export interface WatchdogOptions {
  readonly name: string;
  readonly seed: ControlPlane;
  readonly configFile: string;
  /** Directory for the test's files. */
  readonly directory: string;
}

type Results = ReadonlyMap<string, number>;

/** Returns the results in metrics, by namespace. */
const parseResults = (metrics: string): ReadonlyMap<string, Results> => {
  const found = new Map<string, Map<string, number>>();
  const samples = /^dwd_prober_runs_total\{namespace="([^"]+)",result="(\w+)"\} (\d+)$/gm;
  for (const [, namespace = '', result = '', count] of metrics.matchAll(samples)) {
    const results = found.get(namespace) ?? new Map<string, number>();
    found.set(namespace, results.set(result, Number(count)));
  }
  return found;
};

const unread = () => ({ at: Number.NEGATIVE_INFINITY, byNamespace: Promise.resolve(parseResults('')) });

/** Returns the text of the metrics; empty if they cannot be read in time. */
const scrape = async (port: number): Promise<string> => {
  try {
    const url = `http://127.0.0.1:${String(port)}/metrics`;
    return await (await fetch(url, { signal: AbortSignal.timeout(scrapeTimeoutMs) })).text();
  } catch {
    return '';
  }
};

export const createWatchdog = async (options: WatchdogOptions): Promise<Watchdog> => {
  const { name, seed, configFile, directory } = options;
  const user = `dwd-${name}`;
  const onlyClusters = { labelSelector: `${clusterLabel}=${name}` };
  const prober = await proberBehindProxy({ ...{ seed, user, configFile, directory }, rules: seedRules, onlyClusters });
  let metricsPort = 0;
  let results = unread();
  return {
    ...prober,
    name,
    user,
    clusterLabels: { [clusterLabel]: name },
    start: async () => {
      [metricsPort = 0] = await freePorts(1);
      results = unread();
      prober.start([`--metrics-bind-addr=127.0.0.1:${String(metricsPort)}`]);
    },
    results: async (namespace) => {
      // One scrape serves the calls for many shoots.
      const at = performance.now();
      if (at - results.at > freshMs) results = { at, byNamespace: scrape(metricsPort).then(parseResults) };
      return (await results.byNamespace).get(namespace) ?? new Map<string, number>();
    },
  };
};
