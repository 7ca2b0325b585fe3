import { getEventListeners } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, it } from 'vitest';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createRateLimiter, withRateLimit } from '../../src/kubernetes/client/rate-limit.ts';
import { retryThrottled } from '../../src/kubernetes/client/retry-throttled.ts';
import { connectCluster } from '../../src/kubernetes/connection/cluster-connection.ts';
import { createShootConnector } from '../../src/kubernetes/connection/shoot-connector.ts';
import { loadOperatorKubeconfig } from '../../src/kubernetes/kubeconfig/operator.ts';
import { createProber } from '../../src/prober/component.ts';
import { runLifecycle } from '../../src/process/lifecycle.ts';
import { systemRandom } from '../../src/process/random.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMeter } from '../../src/telemetry/meter.ts';
import { type Served, startServed } from '../envtest/served.ts';
import type { FaultyWorld } from './support/faulty-world.ts';

/** Number of measured phases, after one of warm-up. */
const phases = 3;
const runsPerPhase = 300;
/** Virtual time per turn of the event loop, so that virtual time is as slow as the machine. */
const stepMs = 50;
/** The same at rest, when no response is late and nothing depends on when it comes. */
const restStepMs = 250;
/** Virtual time per turn of the faults. */
const turnMs = 3_000;
const settings = { ...gardenSettings, probeIntervalMs: 2_000, initialDelayMs: 0 };

const counted = ['sockets', 'fileDescriptors', 'signals', 'listeners', 'pendingTimers'] as const;
const reloads = 40;
/** Tolerance of a count: a run of each of the eight shoots may be in progress, with three signals, a connection and timers. */
const slack = 24;

/** The resources that a process holds. */
interface ResourceCounts {
  /** Numbers of open sockets and pipes, by Node's names for them. */
  readonly resources: Readonly<Record<string, number>>;
  readonly fileDescriptors: number;
  /** Number of AbortSignals that are still reachable. `listeners` counts the listeners on them. */
  readonly signals: number;
  readonly listeners: number;
}

interface ResourceCounter {
  /** Collects garbage, then counts. Resolves when two counts in a row are equal, so that work in progress has ended. */
  take(): Promise<ResourceCounts>;
  /** Messages of Node's warnings, such as too many listeners. */
  readonly warnings: readonly string[];
  stop(): void;
}

const quietMs = 200;

const countResources = (): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  // These belong to the test's own waits.
  for (const name of ['Timeout', 'Immediate', 'FSReqPromise']) counts[name] = 0;
  return counts;
};

/** Counts the AbortSignals that are created from now on. At most one census may run per process. */
const startResourceCounter = (): ResourceCounter => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const Original = globalThis.AbortController;
  let signals: WeakRef<AbortSignal>[] = [];
  globalThis.AbortController = class extends Original {
    constructor() {
      super();
      signals.push(new WeakRef(this.signal));
    }
  };
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(`${warning.name}: ${warning.message}`);
  process.on('warning', onWarning);

  const count = async (): Promise<ResourceCounts> => {
    for (let round = 0; round < 4; round += 1) {
      collectGarbage();
      // The target of a dereferenced WeakRef stays reachable until the task ends.
      await sleep(5);
    }
    const living = signals.flatMap((ref) => ref.deref() ?? []);
    const listeners = living.map((signal) => getEventListeners(signal, 'abort').length);
    signals = living.map((signal) => new WeakRef(signal));
    return {
      resources: countResources(),
      fileDescriptors: readdirSync('/proc/self/fd').length,
      signals: living.length,
      listeners: listeners.reduce((sum, some) => sum + some, 0),
    };
  };
  return {
    take: async () => {
      let census = await count();
      for (let tries = 0; tries < 50; tries += 1) {
        await sleep(quietMs);
        const next = await count();
        if (isDeepStrictEqual(next, census)) return next;
        census = next;
      }
      return census;
    },
    warnings,
    stop: () => {
      process.off('warning', onWarning);
      globalThis.AbortController = Original;
    },
  };
};

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const startWorld = async (): Promise<{ world: Served<FaultyWorld>; kubeconfigFile: string }> => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-leaks-'));
  ends.push(() => rmSync(directory, { recursive: true, force: true }));
  const world = startServed<FaultyWorld>(new URL('./support/faulty-world.ts', import.meta.url));
  ends.push(() => world.end());
  const { kubeconfig } = await world.ready();
  const kubeconfigFile = join(directory, 'kubeconfig');
  writeFileSync(kubeconfigFile, kubeconfig);
  return { world, kubeconfigFile };
};

/** Starts a prober with everything between it and its sockets that a process has, on a clock that only `pass` advances. */
const startProbing = async (kubeconfigFile: string) => {
  const clock = createVirtualClock({ startWall: Date.now() });
  const counts = { breaks: 0, bugs: 0 };
  const logger = createLogger({
    level: 'debug',
    encoder: 'json',
    clock,
    write: (line) => {
      if (line.includes('list and watch interrupted')) counts.breaks += 1;
      if (line.includes('this is a bug')) counts.bugs += 1;
    },
  });
  const meter = createMeter({ processMetrics: false });
  const access = await loadOperatorKubeconfig({ path: kubeconfigFile, env: {}, homedir: () => '/nowhere', clock });
  const transport = connectCluster({ access, clock, logger, userAgent: 'leaks' });
  const limiter = createRateLimiter({ qps: 1_000, burst: 1_000, urgentInFlight: 50, clock, meter });
  const connector = createShootConnector({ clock, userAgent: 'leaks' });
  const seed = retryThrottled(withRateLimit(transport, limiter, clock), clock);
  const leadership = { mayWrite: () => true };
  const ports = { clock, random: systemRandom(), logger, meter, seed, connector, leadership, identity: 'test' };
  const prober = createProber({ settings, ports });
  const stop = new AbortController();
  const groups = [[prober.caches], [prober.controller]];
  // The sockets are real, and end in real time.
  const ended = runLifecycle({ groups, stop: stop.signal, clock, logger, stopTimeoutMs: 3_600_000 });

  const pass = async (isOver: () => Promise<boolean> | boolean, ms = stepMs): Promise<void> => {
    while (!(await isOver())) {
      for (let turn = 0; turn < 20; turn += 1) {
        await clock.advance(ms);
        await sleep(1);
      }
    }
  };
  /** Returns the number of runs so far, by result. */
  const runs = async (): Promise<ReadonlyMap<string, number>> => {
    const results = new Map<string, number>();
    for (const [, result = '', value] of (await meter.metricsText()).matchAll(
      /^dwd_prober_runs_total\{.*result="(\w+)".*\} (\d+)$/gm,
    )) {
      results.set(result, (results.get(result) ?? 0) + Number(value));
    }
    return results;
  };
  return {
    ...{ clock, counts, prober, pass, runs },
    stop: async () => {
      let hasEnded = false;
      stop.abort(new Error('the end of the test'));
      void ended.then(() => {
        hasEnded = true;
      });
      await pass(() => hasEnded);
      transport.close();
    },
  };
};

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((all, some) => all + some, 0);

interface Row extends ResourceCounts {
  readonly runs: number;
  readonly sockets: number;
  readonly pendingTimers: number;
}

const format = ({ runs, resources: _resources, ...row }: Row): string =>
  `${String(runs).padStart(6)} runs  ${JSON.stringify(row)}`;

it('leaks no socket, file, signal, listener or timer in 900 runs with many faults and broken watches', {
  // Only a hang exceeds this: what is measured are counts, in virtual time.
  timeout: 3_600_000,
}, async () => {
  const { world, kubeconfigFile } = await startWorld();
  const census = startResourceCounter();
  ends.push(() => census.stop());
  const before = await census.take();
  const probing = await startProbing(kubeconfigFile);
  const { clock, counts, pass, runs } = probing;
  const rows: Row[] = [];
  const results = new Map<string, number>();
  let inTrouble = 0;

  const troublePhase = async (): Promise<void> => {
    const first = await runs();
    while (sum(await runs()) - sum(first) < runsPerPhase) {
      await world.order('turn');
      const until = clock.monotonic() + turnMs;
      await pass(() => clock.monotonic() >= until);
    }
    const last = await runs();
    inTrouble += sum(last) - sum(first);
    for (const [result, count] of last) {
      results.set(result, (results.get(result) ?? 0) + count - (first.get(result) ?? 0));
    }
  };
  /** Ends the faults, lets pending requests time out and idle connections close, then stops the clock and counts. */
  const rest = async (): Promise<Row> => {
    await world.order('calm');
    const until = clock.monotonic() + 75_000;
    await pass(() => clock.monotonic() >= until, restStepMs);
    const taken = await census.take();
    const sockets = taken.resources.TCPSocketWrap ?? 0;
    return { ...taken, sockets, runs: sum(await runs()), pendingTimers: clock.pending };
  };

  await troublePhase();
  await rest();
  rows.push(await rest());
  for (let phase = 0; phase < phases; phase += 1) {
    await troublePhase();
    rows.push(await rest());
  }
  for (let reload = 1; reload <= reloads; reload += 1) {
    void probing.prober.apply({ ...settings, probeTimeoutMs: settings.probeTimeoutMs + reload });
    const until = clock.monotonic() + 3_000;
    await pass(() => clock.monotonic() >= until);
  }
  const reloaded = await rest();
  await probing.stop();
  const after = await census.take();

  const figures = [
    ...rows.map(format),
    `after ${String(reloads)} reloads: ${format(reloaded)}`,
    `before: ${JSON.stringify(before)}`,
    `after:  ${JSON.stringify(after)}`,
    `in trouble: ${String(inTrouble)} runs ${JSON.stringify(Object.fromEntries(results))}, ${String(counts.breaks)} broken watches`,
  ].join('\n');
  process.stderr.write(`leaks\n${figures}\n`);

  expect(inTrouble, figures).toBeGreaterThanOrEqual(900);
  expect(counts.breaks, figures).toBeGreaterThanOrEqual(50);
  expect([...results.keys()].sort()).toEqual(
    expect.arrayContaining([
      'api_server_unreachable',
      'healthy',
      'kubeconfig_unusable',
      'lease_list_failed',
      'throttled',
      'unhealthy',
    ]),
  );
  expect(counts.bugs).toBe(0);
  expect(census.warnings).toEqual([]);
  const most = (what: (typeof counted)[number]): number => (rows[0]?.[what] ?? 0) + slack;
  for (const row of [...rows.slice(1), reloaded]) {
    for (const what of counted) expect(row[what], `${what}\n${figures}`).toBeLessThanOrEqual(most(what));
    // Node does not count unreferenced sockets.
    expect(row.fileDescriptors, figures).toBeLessThanOrEqual(before.fileDescriptors + row.sockets + slack);
  }
  expect(after.resources, figures).toEqual(before.resources);
  expect(after.fileDescriptors, figures).toBe(before.fileDescriptors);
  expect(after.listeners, figures).toBe(before.listeners);
  expect(clock.pending, figures).toBe(0);
});
