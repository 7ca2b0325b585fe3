import { homedir } from 'node:os';
import { KubeconfigError } from '../kubernetes/api/errors.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { createWatchRegistry } from '../kubernetes/cache/index.ts';
import { createKubeClient, createRateLimiter, fenceWrites, limitedStack } from '../kubernetes/client/index.ts';
import {
  connectCluster,
  createKubeconfigCache,
  createShootConnector,
  createTunnelConnector,
} from '../kubernetes/connection/index.ts';
import { loadOperatorKubeconfig } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';
import {
  type Component,
  type ComponentOptions,
  type ComponentParts,
  type ComponentPorts,
  type ProcessDeps,
  Reloadable,
  leaseNameOf,
  runComponent,
  systemClock,
  userAgentOf,
} from '../process/index.ts';
import { rightsOf } from '../process/rights/index.ts';
import type { CareSettings } from './config.ts';
import { CareController, type CareDeps } from './controller.ts';
import { CareReport } from './report.ts';
import { careGardenGrants, careGrants } from './rights.ts';
import type { LastResults } from './shoot.ts';

/** Connectors to the shoots, over their API servers and through their tunnels. */
type ShootAccess = Pick<CareDeps, 'connector' | 'tunnels'>;

export interface CarePorts extends ComponentPorts, ShootAccess {
  /** Transport to the garden with its policies. If absent, care writes nothing. */
  readonly garden?: Kube | undefined;
}

export interface CareOptions extends ComponentOptions<CareSettings, CarePorts> {
  /** True if care writes conditions even if another client writes them. */
  readonly takeOver?: boolean;
}

/** Call it once per meter. */
export const careDeps = (
  ports: Omit<CarePorts, 'identity'>,
  { takeOver = false, dryRun = false }: Pick<CareOptions, 'takeOver' | 'dryRun'>,
): CareDeps => {
  const { clock, garden, leadership, meter } = ports;
  const client = garden && createKubeClient({ kube: fenceWrites(garden, leadership), clock });
  const writer = client && { clock, client, takeOver, dryRun };
  const results: LastResults = new Map();
  const report = new CareReport({ ...ports, results });
  return { ...ports, writer, report, results, registry: createWatchRegistry(meter) };
};

/** Creates care of a seed. The results of the last checks outlive a change of the configuration. */
export const createCare = ({ settings, ports, ...options }: CareOptions): ComponentParts<CareSettings> => {
  const deps = careDeps(ports, options);
  return new Reloadable({
    name: 'care',
    settings,
    create: (wanted) => new CareController(wanted, deps),
    stop: () => undefined,
    logger: ports.logger,
  });
};

export const createShootAccess = (
  { clock }: Pick<CarePorts, 'clock'>,
  { userAgent, env }: { readonly userAgent: string; readonly env: CareProcessDeps['env'] },
): ShootAccess => {
  const known = createKubeconfigCache({ env });
  return {
    connector: createShootConnector({ clock, userAgent, known }),
    tunnels: createTunnelConnector({ clock, userAgent, known }),
  };
};

/** Minimum of the limit on concurrent urgent requests: care only reads in the seed, and sends none. */
const urgentInFlight = 1;

export const careComponent = ({
  garden,
  takeOver,
  clock,
}: Pick<CarePorts, 'garden' | 'clock'> & Pick<CareProcessDeps, 'takeOver'>): Component<CareSettings> => ({
  leaseName: leaseNameOf('care'),
  urgentInFlight,
  neededRights: async (settings) => rightsOf(careGrants(settings)),
  garden: garden && {
    client: createKubeClient({ kube: garden, clock }),
    neededRights: async () => rightsOf(careGardenGrants),
  },
  create: ({ ports, userAgent, env, settings, dryRun }) => {
    const shoots = createShootAccess(ports, { userAgent, env });
    return createCare({ settings, dryRun, takeOver, ports: { ...ports, ...shoots, garden } });
  },
});

export interface CareProcessDeps extends ProcessDeps<CareSettings> {
  /** Path of a kubeconfig for the garden. If absent, care writes nothing. */
  readonly gardenKubeconfig?: string | undefined;
  /** True if care writes conditions even if another client writes them. */
  readonly takeOver: boolean;
}

type ConnectDeps = Pick<CareProcessDeps, 'gardenKubeconfig' | 'env' | 'flags' | 'logger' | 'meter' | 'version'>;

/** Rate limits of care. */
export const limitsOf = ({ qps, burst }: ConnectDeps['flags']) => ({ qps, burst, urgentInFlight });

/** Runs `work` with a connection to the garden, or with undefined without a kubeconfig. Rejects as `work` does, or with a KubeconfigError. */
export const withGarden = async <T>(
  deps: ConnectDeps,
  clock: Clock,
  work: (garden: Kube | undefined) => Promise<T>,
): Promise<T> => {
  const { gardenKubeconfig: path, env, flags, logger, meter } = deps;
  if (path === undefined) return work(undefined);
  const access = await loadOperatorKubeconfig({ path, env, homedir, clock }).catch(rethrowNamingGardenFlag);
  logger.info('garden', { source: `--garden-kubeconfig ${path}`, host: access.endpoint.host });
  const transport = connectCluster({ access, clock, logger, userAgent: userAgentOf(deps) });
  // Limit the rate, because after a restart care reads all Shoots of a seed at once, and other seeds may restart at the same time.
  const limiter = createRateLimiter({ ...limitsOf(flags), clock, meter, cluster: 'garden' });
  try {
    return await work(limitedStack(transport, { clock, limiter }));
  } finally {
    transport.close();
  }
};

/** Replaces the seed's flag in a message by the garden's. */
const rethrowNamingGardenFlag = (error: unknown): never => {
  if (!(error instanceof KubeconfigError)) throw error;
  throw new KubeconfigError(error.field, error.problem.replace('check --kubeconfig', 'check --garden-kubeconfig'));
};

/** Runs `dwd care` as a process. Resolves with its exit code. */
export const runCareProcess = (deps: CareProcessDeps): Promise<number> => {
  const { takeOver } = deps;
  const clock = systemClock();
  return withGarden(deps, clock, (garden) => runComponent(careComponent({ garden, takeOver, clock }), deps));
};
