import { refKey } from '../kubernetes/api/resource-ref.ts';
import type { ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import { createWatchRegistry } from '../kubernetes/cache/index.ts';
import { createKubeClient, fenceWrites } from '../kubernetes/client/index.ts';
import { createShootConnector } from '../kubernetes/connection/index.ts';
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
import { createEventRecorder } from '../telemetry/index.ts';
import type { HeldByShoot } from './controller.ts';
import { createGeneration } from './generation.ts';
import { createProberReport } from './report.ts';
import { neededByProber } from './rights.ts';
import type { DependentResource, ProberSettings } from './settings.ts';

export interface ProberPorts extends ComponentPorts {
  readonly connector: ShootConnector;
}

export type ProberOptions = ComponentOptions<ProberSettings, ProberPorts>;

/**
 * The prober of a seed. When its configuration changes, lease memory and back-off of each shoot stay, and what was scaled down under the
 * former settings is still restored.
 */
export const createProber = ({
  settings,
  ports,
  concurrency,
  dryRun = false,
}: ProberOptions): ComponentParts<ProberSettings> => {
  const { logger, leadership } = ports;
  const client = createKubeClient({ kube: fenceWrites(ports.seed, leadership), clock: ports.clock });
  const events = createEventRecorder({ ...ports, client, component: 'dependency-watchdog-prober' });
  const report = createProberReport({ ...ports, events, dryRun });
  const unserved = ports.meter.gauge({
    name: 'dwd_prober_dependent_unserved',
    help: '1 while the seed does not serve the kind of a dependent resource, or not its scale subresource.',
    labels: ['resource'],
  });
  const registry = createWatchRegistry(ports.meter);
  let held: HeldByShoot = new Map();
  const onStopped = (counts: HeldByShoot): void => {
    // Without the lead another replica leads, or will, and what is held is its affair.
    held = ports.leadership.mayWrite() ? counts : new Map();
  };
  const deps = { ...ports, client, report, unserved, registry, dryRun, concurrency, onStopped };
  return new Reloadable({
    name: 'prober',
    settings,
    create: (wanted, former) => createGeneration(former === undefined ? wanted : keepDropped(wanted, former), deps),
    stop: () => {
      events.stop();
      report.stopped(held);
    },
    logger,
  });
};

/** Of what the former settings name and the new ones do not, all that is held down, or is about to be, still has to be restored. */
const keepDropped = (wanted: ProberSettings, former: ProberSettings): ProberSettings => {
  const named = new Set(wanted.dependentResources.map(({ ref }) => refKey(ref)));
  const dropped = former.dependentResources
    .filter(({ ref }) => !named.has(refKey(ref)))
    .map(({ ref, scaleUp }): DependentResource => ({ ref, scaleUp, optional: true, onlyWhereHeld: true }));
  return { ...wanted, dependentResources: [...wanted.dependentResources, ...dropped] };
};

/** Of a scale-down: what KCM's grace leaves no time to wait for. */
const urgentInFlight = 50;

export const proberComponent: Component<ProberSettings> = {
  leaseName: leaseNameOf('prober'),
  urgentInFlight,
  neededRights: neededByProber,
  create: ({ ports, userAgent, ...options }) => {
    const connector = createShootConnector({ clock: ports.clock, userAgent });
    return createProber({ ...options, ports: { ...ports, connector } });
  },
};

/** Runs the prober without servers and leader election, for worlds in memory. */
export const startProber = (options: ProberOptions): RunningComponent<ProberSettings> =>
  startParts(createProber(options));
