import type { Kube } from '../kubernetes/api/kube.ts';
import type { ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import type { TunnelConnector } from '../kubernetes/api/tunnel-connection.ts';
import { createWatchRegistry } from '../kubernetes/cache/index.ts';
import { createKubeClient, writerStack } from '../kubernetes/client/index.ts';
import { createKubeconfigCache, createShootConnector, createTunnelConnector } from '../kubernetes/connection/index.ts';
import type { Clock } from '../ports/clock.ts';
import {
  type Component,
  type ComponentOptions,
  type ComponentParts,
  type ComponentPorts,
  type RunningComponent,
  Reloadable,
  leaseNameOf,
  startParts,
} from '../process/index.ts';
import { rightsOf } from '../process/rights/index.ts';
import { ConfiguredCare } from './configured-care.ts';
import { CareReport } from './report.ts';
import { careGardenGrants, careGrants } from './rights.ts';
import type { CareSettings } from './settings.ts';

export interface CarePorts extends ComponentPorts {
  readonly connector: ShootConnector;
  readonly tunnels: TunnelConnector;
  /** Transport to the garden with its policies. If absent, care writes nothing. */
  readonly garden?: Kube | undefined;
}

export interface CareOptions extends Omit<ComponentOptions<CareSettings, CarePorts>, 'concurrency'> {
  /** True if care writes conditions even if another client writes them. */
  readonly takeOver?: boolean;
}

/** Creates care of a seed. The results of the last checks outlive a change of the configuration. */
const createCare = ({
  settings,
  ports,
  takeOver = false,
  dryRun = false,
}: CareOptions): ComponentParts<CareSettings> => {
  const { clock, garden, leadership, logger } = ports;
  const writer = garden && createKubeClient({ kube: writerStack(garden, leadership), clock });
  const deps = {
    ...ports,
    writer,
    report: new CareReport(ports),
    registry: createWatchRegistry(ports.meter),
    takeOver,
    dryRun,
  };
  return new Reloadable({
    name: 'care',
    settings,
    create: (wanted) => new ConfiguredCare(wanted, deps),
    stop: () => undefined,
    logger,
  });
};

/** Minimum of the limit on concurrent urgent requests: care only reads in the seed, and sends none. */
const urgentInFlight = 1;

export interface CareComponentOptions {
  readonly garden?: Kube | undefined;
  readonly takeOver: boolean;
  readonly clock: Clock;
}

export const careComponent = ({ garden, takeOver, clock }: CareComponentOptions): Component<CareSettings> => ({
  leaseName: leaseNameOf('care'),
  urgentInFlight,
  neededRights: async (settings) => rightsOf(careGrants(settings)),
  ...(garden === undefined
    ? {}
    : {
        garden: {
          client: createKubeClient({ kube: garden, clock }),
          neededRights: async () => rightsOf(careGardenGrants),
        },
      }),
  create: ({ ports, userAgent, env, settings, dryRun = false }) => {
    const { random } = ports;
    const known = createKubeconfigCache({ env });
    const connector = createShootConnector({ clock, userAgent, known });
    const tunnels = createTunnelConnector({ clock, random, userAgent, known });
    return createCare({ settings, dryRun, takeOver, ports: { ...ports, connector, tunnels, garden } });
  },
});

/** Runs care without servers and leader election, for simulations. */
export const startCare = (options: CareOptions): RunningComponent<CareSettings> => startParts(createCare(options));
