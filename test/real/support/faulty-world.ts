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

/** Its orders. `turn` begins a fault and lets those under way last one turn less; `calm` ends them all. */
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

interface Wait {
  turnsLeft: number;
  readonly end: () => void;
}

/** Faults last a number of turns, so that their length for the program, whose clock is as slow as the machine, does not depend on the machine. */
const waits = new Set<Wait>();
const turns = (turnsLeft: number): Promise<void> => new Promise((end) => void waits.add({ turnsLeft, end }));

const passTurn = (): void => {
  for (const wait of waits) {
    wait.turnsLeft -= 1;
    if (!isCalm && wait.turnsLeft > 0) continue;
    waits.delete(wait);
    wait.end();
  }
};

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

/** Each function causes one fault in one shoot, and ends it. */
const troubles: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  silent: async ({ proxy }) => {
    proxy.cutOff();
    await turns(1);
    proxy.heal();
  },
  refused: async ({ shoot }) => {
    shoot.api.setReachability('refused');
    await turns(1);
    shoot.api.setReachability('open');
  },
  kubeconfig: async ({ shoot }) => {
    shoot.publishKubeconfig(oneOf(badKubeconfigs(shoot.api.kubeconfig())));
    await turns(2);
    shoot.publishKubeconfig();
  },
  outage: async ({ shoot }) => {
    shoot.cutKubelets();
    // Long enough for leases to expire by the prober's observations.
    await turns(30);
    shoot.restoreKubelets();
  },
  hibernation: async ({ world, shoot }) => {
    if (!sleepers.includes(shoot.name)) return;
    setHibernation(world, shoot, true);
    await turns(1);
    setHibernation(world, shoot, false);
  },
};

const main = async (): Promise<void> => {
  const timing = scaleTiming(defaultTiming, 1 / 50);
  const world = createWorld({ clock, timing, shoots: names.map((name) => ({ name, nodes: 3 })) });
  const proxies = await Promise.all(world.shoots.map(serveShoot));
  await serve({ api: world.api }, clock.now());
  const underWay = new Set<Promise<void>>();
  const busy = new Set<string>();
  const trouble = async (index: number): Promise<void> => {
    const shoot = world.shoots[index]!;
    if (busy.has(shoot.name)) return;
    busy.add(shoot.name);
    await oneOf(Object.values(troubles))({ world, shoot, proxy: proxies[index]! });
    busy.delete(shoot.name);
  };
  const turn = (): null => {
    isCalm = false;
    passTurn();
    if (chance(0.7)) {
      // All requests under way are reset.
      world.api.setReachability('refused');
      world.api.setReachability('open');
    }
    const work = trouble(random.integer(names.length));
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
    return null;
  };
  const calm = async (): Promise<null> => {
    isCalm = true;
    passTurn();
    await Promise.all(underWay);
    return null;
  };
  answerOrders<FaultyWorld>({ kubeconfig: world.api.kubeconfig() }, { turn, calm });
};

await main();
