import { createWatchRegistry } from '../kubernetes/cache/index.ts';
import { createKubeClient, fenceWrites } from '../kubernetes/client/index.ts';
import {
  type Component,
  type ComponentOptions,
  type ComponentParts,
  Reloadable,
  leaseNameOf,
} from '../process/index.ts';
import { type Grant, eventGrant, rightsOf, watched } from '../process/rights/index.ts';
import { createEventRecorder } from '../telemetry/index.ts';
import { WeederController, type WeederControllerDeps } from './controller.ts';
import { WeederReport } from './report.ts';
import type { WeederSettings } from './config.ts';

const pods = { group: '', resource: 'pods' };

/** Rights of the weeder in a seed, for any configuration. */
export const weederGrants: readonly Grant[] = [
  {
    group: 'discovery.k8s.io',
    resource: 'endpointslices',
    verbs: watched,
    purpose: 'to find services that become ready',
  },
  { ...pods, verbs: watched, purpose: 'to find crash-looping pods' },
  { ...pods, verbs: ['delete'], purpose: 'to restart crash-looping pods' },
  eventGrant,
];

/** Creates the weeder of a seed. When its configuration changes, running weedings continue with the new selectors. */
const createWeeder = (options: ComponentOptions<WeederSettings>): ComponentParts<WeederSettings> => {
  const { settings, ports, dryRun = false } = options;
  const { clock, logger, meter, seed, leadership } = ports;
  const client = createKubeClient({ kube: fenceWrites(seed, leadership), clock });
  const events = createEventRecorder({ ...ports, client, component: 'dependency-watchdog-weeder' });
  const report = new WeederReport({ ...ports, events, dryRun });
  const registry = createWatchRegistry(meter);
  const deps: WeederControllerDeps = { ...ports, client, registry, dryRun, report: (event) => report.on(event) };
  return new Reloadable({
    name: 'weeder',
    settings,
    create: (wanted) => new WeederController(wanted, deps),
    stop: () => {
      report.stopped();
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
  create: createWeeder,
};
