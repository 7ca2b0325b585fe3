import type { Clock } from '../../src/ports/clock.ts';
import type { Random } from '../../src/ports/random.ts';
import { simKinds } from '../apiserver/index.ts';
import type { FaultRule } from '../network/index.ts';
import type { World, WorldShoot } from '../world/index.ts';
import { startWrongClocks } from './wrong-clocks.ts';

export type FaultName = 'lb' | 'nat' | 'shoot-lb' | 'api-server' | 'seed-slow' | 'clock-skew' | 'restart' | 'none';

/** What goes wrong between the beginning and the end of an outage. */
export interface RehearsedFault {
  readonly title: string;
  /** Which shoots; the first is the one. */
  readonly strikes: 'all' | 'one' | 'none';
  /** Of the nodes of a struck shoot, how many are cut off; rounded up. */
  readonly share: number;
  /** The public way to the API server breaks too, not only that of the nodes. */
  readonly breaksPublicWay?: true;
  readonly downsApiServers?: true;
  readonly slowsSeed?: true;
  /** All the time, and not only during the outage. */
  readonly skewsClocks?: true;
  /** In the middle of the outage. */
  readonly restartsWatchdog?: true;
}

const everybody = { strikes: 'all', share: 1, breaksPublicWay: true } as const;

export const rehearsedFaults: Readonly<Record<FaultName, RehearsedFault>> = {
  lb: { ...everybody, title: 'the load balancer of all shoots fails' },
  nat: { strikes: 'all', share: 0.8, title: 'a NAT gateway fails: 4 of 5 nodes of each shoot are cut off' },
  'shoot-lb': { ...everybody, strikes: 'one', title: 'the load balancer of one shoot fails' },
  'api-server': { strikes: 'all', share: 0, downsApiServers: true, title: 'the API servers of all shoots are down' },
  'seed-slow': { ...everybody, slowsSeed: true, title: "all load balancers fail, and the seed's API server is slow" },
  'clock-skew': {
    ...everybody,
    skewsClocks: true,
    title: 'all load balancers fail, and the clocks of all nodes are wrong by 10m',
  },
  restart: { ...everybody, restartsWatchdog: true, title: 'all load balancers fail, and the watchdog is restarted' },
  none: { strikes: 'none', share: 0, title: 'nothing fails' },
};

/** Every request to the seed takes so long, in milliseconds. */
const slowByMs = 500;
/** Of the requests that are not watches, so many are refused with this `Retry-After`, in seconds. */
const refusedShare = 1 / 5;
const retryAfter = 1;

/** A seed whose API server is slow and has too much to do. Refusals are random: in a fixed order, repeated requests would meet them again. */
export const slowSeed =
  (random: Random): FaultRule =>
  ({ query }) =>
    query?.watch !== 'true' && random.next() < refusedShare ? { status: 429, retryAfter } : { delayMs: slowByMs };

export const struckShoots = ({ shoots }: World, { strikes }: RehearsedFault): readonly WorldShoot[] =>
  strikes === 'all' ? shoots : shoots.slice(0, strikes === 'one' ? 1 : 0);

/** Nodes of a struck shoot that are cut off. */
export const cutNodes = ({ store }: WorldShoot, { share }: RehearsedFault): readonly string[] => {
  const nodes = store.list(simKinds.Node).map(({ metadata }) => metadata.name);
  return nodes.slice(0, Math.ceil(nodes.length * share));
};

const strike = (shoot: WorldShoot, fault: RehearsedFault): void => {
  if (fault.downsApiServers === true) shoot.api.setReachability('refused');
  shoot.cutKubelets(cutNodes(shoot, fault));
  if (fault.breaksPublicWay === true) shoot.api.publicWay.setReachability('silent');
};

const mend = (shoot: WorldShoot): void => {
  shoot.api.setReachability('open');
  shoot.restoreKubelets();
  shoot.api.publicWay.setReachability('open');
};

/** What of a fault happens in the world itself. */
export interface Trouble {
  begin(): void;
  end(): void;
}

/** Sets wrong clocks at once; the rest waits for `begin`. */
export const createTrouble = (world: World, clock: Clock, fault: RehearsedFault): Trouble => {
  if (fault.skewsClocks === true) for (const shoot of world.shoots) startWrongClocks(shoot, clock);
  const struck = struckShoots(world, fault);
  return {
    begin: () => {
      for (const shoot of struck) strike(shoot, fault);
    },
    end: () => {
      for (const shoot of struck) mend(shoot);
    },
  };
};
