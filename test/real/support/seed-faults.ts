import type { WireFault } from './fault.ts';
import type { ProxyRefusal } from './write-proxy.ts';

/** Refuses two of three attempts of each write and each list of machines with 429, one of them with `Retry-After`. */
const refuseTwice = (): ((method: string, path: string) => ProxyRefusal | undefined) => {
  const tries = new Map<string, number>();
  return (method, path) => {
    if (method === 'GET' && !path.endsWith('/machines')) return undefined;
    const earlier = tries.get(path) ?? 0;
    tries.set(path, earlier + 1);
    return [{ status: 429, retryAfter: 1 }, { status: 429 }, undefined][earlier % 3];
  };
};

const cutOff = (name: string, how: 'refuse' | 'swallow', saysInOutage: RegExp): WireFault => ({
  name,
  // A healthy run sends no request to the seed.
  result: 'healthy',
  saysInOutage,
  blinds: true,
  start: async ({ watchdog: { proxy } }) => {
    proxy.cutOff(how);
    return () => proxy.heal();
  },
});

const cutOffAtStart = (name: string, how: 'refuse' | 'swallow'): WireFault => ({
  name,
  result: undefined,
  blinds: true,
  start: async ({ watchdog }) => {
    await watchdog.kill();
    watchdog.proxy.cutOff(how);
    await watchdog.start();
    return () => watchdog.proxy.heal();
  },
});

/** Faults of the seed's API server. Each needs its own watchdog. */
export const seedFaults: readonly WireFault[] = [
  cutOffAtStart('seed-refuses-start', 'refuse'),
  cutOffAtStart('seed-silent-start', 'swallow'),
  cutOff('seed-refuses', 'refuse', /machines: the connection was (reset|closed)/),
  cutOff('seed-silent', 'swallow', /machines: not? .*within/),
  {
    name: 'seed-429',
    result: 'healthy',
    saysInOutage: /machines: 429 TooManyRequests/,
    blinds: true,
    start: async ({ watchdog: { proxy } }) => {
      proxy.refuseWhere(() => ({ status: 429, retryAfter: 1 }));
      proxy.breakConnections();
      return () => proxy.refuseWhere(() => undefined);
    },
  },
  {
    name: 'seed-429-in-scaling',
    result: 'healthy',
    saysInOutage: /kube-controller-manager.*429 TooManyRequests/,
    blinds: false,
    start: async ({ watchdog: { proxy } }) => {
      proxy.refuseWhere(refuseTwice());
      return () => proxy.refuseWhere(() => undefined);
    },
  },
];
