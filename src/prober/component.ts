import type { KubeClient } from '../kubernetes/api/kube.ts';
import { refKey } from '../kubernetes/api/resource-ref.ts';
import type { ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import { type WatchRegistry, createWatchRegistry } from '../kubernetes/cache/index.ts';
import { createKubeClient, fenceWrites } from '../kubernetes/client/index.ts';
import { createKubeconfigCache, createShootConnector } from '../kubernetes/connection/index.ts';
import {
  type Component,
  type ComponentOptions,
  type ComponentParts,
  type ComponentPorts,
  Reloadable,
  leaseNameOf,
} from '../process/index.ts';
import { createEventRecorder } from '../telemetry/index.ts';
import { type ConfiguredProberDeps, createConfiguredProber } from './configured-prober.ts';
import type { HeldByShoot } from './controller.ts';
import { Pauses, shownPause } from './scale/pauses.ts';
import { type Role, type Standby, roleOf } from './scale/desired.ts';
import { ProbeGate } from './observe/probe-gate.ts';
import { watchNamespaces } from './clusters/cluster-source.ts';
import { type Emit, emitTo } from './report/events.ts';
import { showStates } from './report/metrics.ts';
import { reportEvents } from './report/report.ts';
import { ShootStates } from './report/state.ts';
import { neededByProber } from './rights.ts';
import type { ProberMemories } from './shoot.ts';
import type { DependentResource, ProberSettings } from './config/settings.ts';

export interface ProberPorts extends ComponentPorts {
  readonly connector: ShootConnector;
}

export interface ProberOptions extends ComponentOptions<ProberSettings, ProberPorts> {
  /** Default: hot. */
  readonly standby?: Standby;
  /** Name of the seed, for people; absent: the one in its Clusters. */
  readonly seedName?: string | undefined;
}

/** Creates the clients of the seed. They differ in the writes that they allow while this process does not lead. */
const createSeedClients = ({ ports, standby = 'hot' }: ProberOptions) => {
  const { clock, leadership } = ports;
  const fencedBy = (mayWrite: () => boolean): KubeClient =>
    createKubeClient({ kube: fenceWrites(ports.seed, { mayWrite }), clock });
  return {
    client: fencedBy(() => leadership.mayWrite()),
    // A standby records Events only about its writes without the lead.
    recording: fencedBy(() => leadership.mayWrite() || standby === 'hot'),
    seedFor: fencedBy,
  };
};

const createGate = ({ clock, meter }: ProberPorts): ProbeGate => {
  const gate = new ProbeGate(clock);
  meter.gauge({
    name: 'dwd_prober_probes_waiting',
    help: 'Due probes that wait to start.',
    read: () => [{ value: gate.waiting, labels: {} }],
  });
  return gate;
};

/** Watches the Namespaces of the seed from `start` on, as long as the process lives, whatever the configuration. */
const createNamespaces = (ports: ProberPorts, registry: WatchRegistry) => {
  const informer = watchNamespaces({ ...ports, kube: ports.seed, registry });
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  const start = (): void => {
    running ??= informer.run(closing.signal);
  };
  return { informer, start, signal: closing.signal, stop: () => closing.abort(new Error('the prober has ended')) };
};

/**
 * Creates the prober of a seed. When its configuration changes, lease history and back-off of each shoot stay, and resources that were scaled down under the
 * former settings are still restored.
 */
export const createProber = (options: ProberOptions): ComponentParts<ProberSettings> => {
  const { settings, ports, ownNamespace = 'garden', dryRun = false, standby = 'hot', seedName, checkRights } = options;
  const { logger, leadership } = ports;
  const { client, recording, seedFor } = createSeedClients(options);
  const role = (): Role => roleOf({ ...ports, standby });
  const leads = (): boolean => leadership.mayWrite();
  const events = createEventRecorder({ ...ports, client: recording, component: 'dependency-watchdog-prober' });
  const registry = createWatchRegistry(ports.meter);
  const namespaces = createNamespaces(ports, registry);
  const pauses: Pauses = new Pauses({
    clock: ports.clock,
    namespaces: namespaces.informer,
    ownNamespace,
    configured: settings.paused,
    onChange: (change) => emit({ kind: 'pause-changed', ...change }),
  });
  const pauseOf = (cluster: string) => shownPause(pauses.of(cluster));
  const states = new ShootStates({ clock: ports.clock, dryRun, leads, seedName, pauseOf, emit: (e) => emit(e) });
  const seed = (): string | undefined => states.seed();
  const emit: Emit = emitTo([states.observe, reportEvents({ ...ports, events, dryRun, leads, seed })]);
  showStates({ ...ports, states, leads, unreadablePauses: () => pauses.unreadable() });
  void pauses.report(namespaces.signal);
  const unserved = ports.meter.gauge({
    name: 'dwd_prober_dependent_unserved',
    help: '1 while the seed does not serve the kind of a dependent resource, or the scale subresource that it needs.',
    labels: ['resource'],
  });
  const gate = createGate(ports);
  let held: HeldByShoot = new Map();
  const onHeld = (counts: HeldByShoot): void => void (held = counts);
  const deps = {
    ...ports,
    ...{ role, client, seedFor, emit, unserved, registry },
    ...{ gate, states, pauses, dryRun, onHeld, checkRights },
    ...{ namespaces: namespaces.informer, startNamespaces: namespaces.start, ownNamespace },
  };
  const reloadable = new Reloadable<ProberSettings, ProberMemories>({
    name: 'prober',
    settings,
    create: configuredProbers(deps, (changed) => void reloadable.apply(changed)),
    stop: () => {
      namespaces.stop();
      events.stop();
      gate.stop();
      emit({ kind: 'ended', held });
    },
    status: (inForce, process, shoot) =>
      states.status({ settings: inForce, process, standby, paused: shownPause(pauses.ofAll()) }, shoot),
    logger,
  });
  return reloadable;
};

/** Returns a function that creates the prober under one configuration after the other. `apply` switches to another one. */
const configuredProbers = (
  deps: Omit<ConfiguredProberDeps, 'onDropped'> & Pick<ProberOptions, 'checkRights'>,
  apply: (settings: ProberSettings) => void,
) => {
  let latest: ProberSettings | undefined;
  return (wanted: ProberSettings, former: ProberSettings | undefined) => {
    deps.emit({ kind: 'configured', probeIntervalMs: wanted.probeIntervalMs });
    const inForce = former === undefined ? wanted : keepRemovedResources(wanted, former);
    latest = inForce;
    const onDropped = (all: ProberSettings): void => {
      // A newer configuration that is on its way looks by itself.
      if (latest !== inForce) return;
      for (const { ref } of all.dependentResources.slice(inForce.dependentResources.length)) {
        const resource = refKey(ref);
        deps.logger.info('a held resource is no longer configured: it is restored after the others', { resource });
      }
      deps.checkRights?.(all);
      apply(all);
    };
    return createConfiguredProber(inForce, { ...deps, onDropped });
  };
};

/** Adds the resources that the former settings name and the new ones do not: those that are held, or are about to be, still have to be restored. */
const keepRemovedResources = (wanted: ProberSettings, former: ProberSettings): ProberSettings => {
  const named = new Set(wanted.dependentResources.map(({ ref }) => refKey(ref)));
  const dropped = former.dependentResources
    .filter(({ ref }) => !named.has(refKey(ref)))
    .map(({ scaleDown: _, ...resource }): DependentResource => ({ ...resource, optional: true, restoreOnly: true }));
  return { ...wanted, dependentResources: [...wanted.dependentResources, ...dropped] };
};

/** Scale-down requests in flight: KCM's grace period leaves no time for them to wait. */
const urgentInFlight = 50;

export const proberComponent = ({
  standby,
  seedName,
}: Pick<ProberOptions, 'standby' | 'seedName'>): Component<ProberSettings> => ({
  leaseName: leaseNameOf('prober'),
  urgentInFlight,
  runsOnStandby: standby !== 'cold',
  isAloneInCluster: true,
  neededRights: neededByProber,
  create: ({ ports, userAgent, env, ...options }) => {
    const known = createKubeconfigCache({ env });
    const connector = createShootConnector({ clock: ports.clock, userAgent, known });
    return createProber({ ...options, standby, seedName, ports: { ...ports, connector } });
  },
});
