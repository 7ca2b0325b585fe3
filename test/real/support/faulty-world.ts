// Runs in its own process: a simulated seed over HTTPS. Its shoots suffer random faults, one after the other, from the first order `turn` to the order `calm`.
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { type RequestFault, withFaults } from '../../../simulator/network/faults.ts';
import { createSeededRandom } from '../../../simulator/time/random.ts';
import { serve } from '../../../simulator/world/serve.ts';
import type { WorldShoot } from '../../../simulator/world/shoot.ts';
import { defaultTiming, scaleTiming } from '../../../simulator/world/timing.ts';
import { type World, createWorld } from '../../../simulator/world/world.ts';
import { systemClock } from '../../../src/process/clock.ts';
import { withBrokenBodies } from '../../doubles/broken-bodies.ts';
import { type Answers, answerOrders } from '../../envtest/served.ts';
import { type SwallowingProxy, startSwallowingProxy } from '../../envtest/swallowing-proxy.ts';

/** Its orders. `turn` begins or ends a fault of one shoot; `calm` ends them all. Faults last a number of turns, not a time, because the program's clock is as slow as the machine. */
export interface FaultyWorld extends Answers {
  readonly ready: { readonly kubeconfig: string };
  readonly turn: null;
  readonly calm: null;
}

const clock = systemClock();
const random = createSeededRandom('faulty world');
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
/** The shoots that are hibernated and woken. The program probes the others as long as it runs. */
const sleepers = ['a', 'b'];
let isCalm = true;

const chance = (probability: number): boolean => !isCalm && random.next() < probability;
const oneOf = <T>(values: readonly T[]): T => values[random.integer(values.length)]!;

const faultOf = (): RequestFault | undefined => {
  if (!chance(0.15)) return undefined;
  return oneOf<RequestFault>([
    { status: 429, retryAfter: 1 },
    { status: 500 },
    { status: 503, retryAfter: 1 },
    { delayMs: 30 },
    'reset',
    'drop',
  ]);
};

const serveShoot = async (shoot: WorldShoot): Promise<SwallowingProxy> => {
  const broken = withBrokenBodies(shoot.api.kube, { random, chance: () => (chance(0.05) ? 1 : 0), within: 1 });
  const kube = withFaults(broken, { clock, rule: faultOf });
  const face = await serve({ api: shoot.api, kube }, clock.now());
  const proxy = await startSwallowingProxy({ host: '127.0.0.1', port: face.port });
  const url = `https://127.0.0.1:${String(proxy.port)}`;
  shoot.api.setAddress({ ...shoot.api.address(), url });
  shoot.publishKubeconfig();
  return proxy;
};

/** A few fixed texts, because the program caches each. */
const badKubeconfigs = (good: string): readonly string[] => [
  '',
  'clusters: [',
  good.replace(/token: .*/, 'exec: {command: "true"}'),
  good.replace(/token: .*/, 'token: wrong'),
  // Nothing listens at this port.
  good.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'),
  good.replace(/certificate-authority-data: .*/, ''),
];

const setHibernation = ({ store }: World, { namespace }: WorldShoot, enabled: boolean): void => {
  store.patch(simKinds.Cluster, { name: namespace }, (old) => {
    const { shoot, ...spec } = old.spec as { readonly shoot: { readonly spec: object } };
    return { ...old, spec: { ...spec, shoot: { ...shoot, spec: { ...shoot.spec, hibernation: { enabled } } } } };
  });
};

interface Place {
  readonly world: World;
  readonly shoot: WorldShoot;
  readonly proxy: SwallowingProxy;
}

/** Each function begins a fault of one shoot, and returns the function that ends it. */
const troubles: readonly ((place: Place) => () => void)[] = [
  ({ proxy }) => {
    proxy.cutOff();
    return () => proxy.heal();
  },
  ({ shoot }) => {
    shoot.api.setReachability('refused');
    return () => shoot.api.setReachability('open');
  },
  ({ shoot }) => {
    shoot.publishKubeconfig(oneOf(badKubeconfigs(shoot.api.kubeconfig())));
    return () => shoot.publishKubeconfig();
  },
  ({ shoot }) => {
    shoot.cutKubelets();
    return () => shoot.restoreKubelets();
  },
  ({ world, shoot }) => {
    if (!sleepers.includes(shoot.name)) return () => undefined;
    setHibernation(world, shoot, true);
    return () => setHibernation(world, shoot, false);
  },
];

const timing = scaleTiming(defaultTiming, 1 / 50);
const world = createWorld({ clock, timing, shoots: names.map((name) => ({ name, nodes: 3 })) });
const proxies = await Promise.all(world.shoots.map(serveShoot));
await serve({ api: world.api }, clock.now());
/** Ends of the faults under way, by the index of their shoot. */
const underWay = new Map<number, () => void>();

const turn = (): null => {
  isCalm = false;
  if (chance(0.7)) {
    // All requests under way are reset.
    world.api.setReachability('refused');
    world.api.setReachability('open');
  }
  const index = random.integer(names.length);
  const end = underWay.get(index);
  if (end === undefined) {
    underWay.set(index, oneOf(troubles)({ world, shoot: world.shoots[index]!, proxy: proxies[index]! }));
  }
  // Some outages last long enough for leases to expire by the prober's observations: for thirty turns.
  else if (chance(0.4)) {
    end();
    underWay.delete(index);
  }
  return null;
};
const calm = (): null => {
  isCalm = true;
  for (const end of underWay.values()) end();
  underWay.clear();
  return null;
};
answerOrders<FaultyWorld>({ kubeconfig: world.api.kubeconfig() }, { turn, calm });
