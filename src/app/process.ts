import { homedir } from 'node:os';
import type { BindAddress, ProberSettings, ProcessOptions } from '../domain/index.ts';
import { connectCluster, createShootConnector, loadOperatorKubeconfig } from '../kube/index.ts';
import type { Logger, Meter } from '../ports/index.ts';
import {
  type Check,
  createHttpServer,
  healthRoutes,
  metricsRoutes,
  type MetricsSource,
  type Runnable,
  runLifecycle,
  systemClock,
  systemRandom,
} from '../runtime/index.ts';
import { createProber } from './prober.ts';

export interface ProcessDeps {
  readonly settings: ProberSettings;
  readonly flags: ProcessOptions;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly meter: Meter & MetricsSource;
  /** Of the program, for the User-Agent. */
  readonly version: string;
  /** Aborts when the program is to stop. */
  readonly stop: AbortSignal;
}

/** `dwd prober` as a process: everything between its settings and its exit code, which is 0 after a stop and 1 after a failure. */
export const runProber = async (deps: ProcessDeps): Promise<number> => {
  const { settings, flags, env, logger, meter, stop } = deps;
  const clock = systemClock();
  const random = systemRandom();
  const userAgent = `dependency-watchdog/${deps.version}`;
  const { kubeconfig } = flags;
  const access = await loadOperatorKubeconfig({
    ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
    env,
    homedir: homedir(),
    clock,
  });
  logger.info('seed', { source: access.source, host: access.endpoint.host });
  const seed = connectCluster({ access, clock, logger, userAgent });
  const connector = createShootConnector({ clock, userAgent });
  const leadership = { mayWrite: () => true };
  const ports = { clock, random, logger, meter, seed, connector, leadership };
  const prober = createProber({ settings, ports, concurrency: flags.concurrentReconciles });
  const servers = createServers(deps, () => prober.checks());
  const code = await runLifecycle({ groups: [servers, [prober.caches], [prober.controller]], stop, clock, logger });
  seed.close();
  return code;
};

const createServers = ({ flags, logger, meter }: ProcessDeps, checks: () => readonly Check[]): readonly Runnable[] => {
  const server = (
    address: BindAddress | undefined,
    what: Omit<Parameters<typeof createHttpServer>[0], 'address' | 'logger'>,
  ) => (address === undefined ? [] : [createHttpServer({ ...what, address, logger })]);
  return [
    ...server(flags.metricsBindAddress, {
      name: 'metrics server',
      flag: '--metrics-bind-addr',
      routes: metricsRoutes(meter),
    }),
    ...server(flags.healthBindAddress, {
      name: 'health server',
      flag: '--health-bind-addr',
      routes: healthRoutes(checks),
    }),
  ];
};
