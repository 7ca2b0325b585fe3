import type { Clock } from '../../src/ports/clock.ts';
import type { World } from '../world/index.ts';
import { type End, type Handlers, shootsOf } from './fault-handlers.ts';
import type { Fault, Plan, PlannedFault } from './plan.ts';
import { PodFaults } from './pod-faults.ts';
import type { Processes } from './processes.ts';
import { ShootFaults } from './shoot-faults.ts';
import type { NetworkFaults } from './network-faults.ts';

export interface FaultInjectorOptions {
  readonly plan: Plan;
  readonly world: World;
  readonly clock: Clock;
  readonly networkFaults: NetworkFaults;
  readonly processes: Processes;
}

const processFaults = (processes: Processes): Handlers<'watchdog-clock' | 'kill' | 'stop' | 'pause' | 'reload'> => ({
  'watchdog-clock': ({ replica, ms }) => {
    processes.setWallOffset(replica, ms);
    return () => processes.setWallOffset(replica, 0);
  },
  kill: ({ replica }) => {
    processes.kill(replica);
    return () => processes.restart(replica);
  },
  stop: ({ replica }) => {
    processes.stop(replica);
    return () => processes.restart(replica);
  },
  pause: ({ replica }) => processes.pause(replica),
  reload: ({ settings }) => {
    processes.configure(settings);
    return () => processes.configure(undefined);
  },
});

/** Creates a function that begins a fault, and returns the function that ends it. */
export const createFaultInjector = (options: FaultInjectorOptions): ((planned: PlannedFault) => End) => {
  const { world, clock, networkFaults, processes } = options;
  const handlers: Handlers<Fault['kind']> = {
    ...networkFaults.handlers,
    ...processFaults(processes),
    ...new ShootFaults(options).handlers,
    ...new PodFaults(world, clock).handlers,
    'api-server-clock': ({ server: name, ms }) => {
      const server = shootsOf(world, name)[0]?.api.server;
      server?.setClockSkew(ms);
      return () => server?.setClockSkew(0);
    },
  };
  return ({ fault }) => (handlers[fault.kind] as (fault: Fault) => End)(fault);
};
