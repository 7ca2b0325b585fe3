import { type Served, startServed } from '../../test/envtest/served.ts';
import type { Answer, Order, Ready, WorldInit, WorldReport } from './protocol.ts';

/** The served world, as the driver reaches it. */
export interface WorldProcess {
  readonly ready: Ready;
  /** Resolves with the time at which it was done, milliseconds since the epoch. */
  order(order: Exclude<Order, 'report'>): Promise<number>;
  report(): Promise<WorldReport>;
  end(): Promise<void>;
}

/** It ends with this process at the latest. */
export const startWorld = async (init: WorldInit): Promise<WorldProcess> => {
  const served: Served<Answer> = startServed(new URL('./world.ts', import.meta.url), [JSON.stringify(init)]);
  const { ready } = await served.answer('ready');
  return {
    ready,
    order: async (order) => (await served.order(order)).at,
    report: async () => (await served.order('report')).report,
    end: () => served.end(),
  };
};
