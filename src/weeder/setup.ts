import { createWatchRegistry } from '../kubernetes/cache/index.ts';
import { createKubeClient, writerStack } from '../kubernetes/client/index.ts';
import {
  type Component,
  type ComponentOptions,
  type ComponentParts,
  type RunningComponent,
  Reloadable,
  leaseNameOf,
  startParts,
} from '../process/index.ts';
import { rightsOf } from '../process/rights/index.ts';
import { createEventRecorder } from '../telemetry/index.ts';
import { ConfiguredWeeder } from './configured-weeder.ts';
import { createPodWatchErrors } from './pod-watches.ts';
import { WeederReport } from './report.ts';
import { weederGrants } from './rights.ts';
import type { WeederSettings } from './settings.ts';

export type WeederOptions = ComponentOptions<WeederSettings>;

/** Creates the weeder of a seed. When its configuration changes, running weedings continue with the new selectors. */
const createWeeder = (options: WeederOptions): ComponentParts<WeederSettings> => {
  const { settings, ports, concurrency, dryRun = false } = options;
  const { clock, logger, meter, seed, leadership } = ports;
  const client = createKubeClient({ kube: writerStack(seed, leadership), clock });
  const events = createEventRecorder({ ...ports, client, component: 'dependency-watchdog-weeder' });
  const report = new WeederReport({ ...ports, events, dryRun });
  const errors = createPodWatchErrors(meter);
  const deps = { ...ports, client, report, errors, registry: createWatchRegistry(meter), dryRun, concurrency };
  return new Reloadable({
    name: 'weeder',
    settings,
    create: (wanted) => new ConfiguredWeeder(wanted, deps),
    stop: () => {
      report.stopped(clock.monotonic());
      events.stop();
    },
    logger,
  });
};

/** Maximum number of concurrent urgent requests of weedings, because a whole seed may recover at once. */
const urgentInFlight = 20;

export const weederComponent: Component<WeederSettings> = {
  leaseName: leaseNameOf('weeder'),
  urgentInFlight,
  neededRights: () => Promise.resolve(rightsOf(weederGrants)),
  create: (options) => createWeeder(options),
};

/** Runs the weeder without servers and leader election, for simulations. */
export const startWeeder = (options: WeederOptions): RunningComponent<WeederSettings> =>
  startParts(createWeeder(options));
