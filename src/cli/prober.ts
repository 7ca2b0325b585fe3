import { type ProberSettings, type Standby, proberConfig } from '../prober/index.ts';
import type { BindAddress, ProcessDeps } from '../process/index.ts';
import { type Command, defineCommand } from './command.ts';
import { address, choice } from './flag-types.ts';
import { launch } from './launch.ts';
import { flag } from './parse-flags.ts';
import { processFlags } from './process-flags.ts';

export interface ProberDeps extends ProcessDeps<ProberSettings> {
  readonly standby: Standby;
  /** Absent: the name in the Clusters of the seed. */
  readonly seedName: string | undefined;
  /** Absent if the page is turned off. */
  readonly pageBindAddress?: BindAddress;
}

export type RunProber = (deps: ProberDeps) => Promise<number>;

const description = `Probes the control planes of all shoots of a seed. If the kubelets of a shoot cannot reach their API server although the API server itself is healthy, the prober scales the configured controllers to 0 before they give up healthy nodes. It restores them when the kubelets have reconnected.`;

export const proberFlags = {
  ...processFlags,
  standby: flag(
    choice<Standby>('mode', ['hot', 'cold']),
    'hot',
    'Behaviour of a replica while another leads: hot observes, and scales down what the leader leaves up; cold waits',
  ),
  'page-bind-addr': flag(
    address,
    '0',
    'Address that the page with all shoots of the seed binds to; the page has no login; 0 turns it off',
  ),
} as const;

export const proberCommand = (run: RunProber): Command =>
  defineCommand({
    name: 'prober',
    summary: 'protect the worker nodes of all shoots of a seed',
    description,
    flags: proberFlags,
    operands: 'ignored',
    run: (invocation, io) => {
      const { standby, 'seed-name': seedName, 'page-bind-addr': pageBindAddress } = invocation.flags;
      const component = {
        config: proberConfig,
        run: async (deps: ProcessDeps<ProberSettings>) =>
          run({ ...deps, standby, seedName, ...(pageBindAddress && { pageBindAddress }) }),
      };
      return launch(component, { ...invocation, io });
    },
  });
