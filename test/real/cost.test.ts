import { afterEach, expect, it } from 'vitest';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { withCounting } from '../../simulator/network/counting.ts';
import { serveWorld } from '../../simulator/world/serve.ts';
import { createWorld } from '../../simulator/world/world.ts';
import { staticCredentials, withCredentials } from '../../src/kubernetes/client/auth.ts';
import { createShootConnector } from '../../src/kubernetes/connection/shoot-connector.ts';
import { parseUntrustedKubeconfig } from '../../src/kubernetes/kubeconfig/untrusted.ts';
import { startProber } from '../../src/prober/component.ts';
import { systemClock } from '../../src/process/clock.ts';
import { systemRandom } from '../../src/process/random.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMeter } from '../../src/telemetry/meter.ts';
import { waitFor } from '../envtest/waiting.ts';

const rows: Record<string, number | string>[] = [];
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Number of counted runs. */
const runs = 10;

it.each([3, 100, 1000])('a healthy probe of %i nodes, over TLS, as the server counts it', async (nodes) => {
  const clock = systemClock();
  const world = createWorld({ clock, seed: 0, shoots: [{ name: 'a', nodes }], timing: {} });
  const served = await serveWorld(world, clock.now());
  ends.push(async () => {
    world.stop();
    await served.close();
  });
  const seed = withCounting(world.api.kube);
  const { authorization } = parseUntrustedKubeconfig(world.api.kubeconfig());
  const prober = startProber({
    settings: { ...gardenSettings, probeIntervalMs: 100, initialDelayMs: 0 },

    ports: {
      clock,
      random: systemRandom(),
      logger: createLogger({ level: 'panic', encoder: 'json', clock, write: () => undefined }),
      meter: createMeter({ processMetrics: false }),
      seed: withCredentials(seed, staticCredentials(authorization)),
      connector: createShootConnector({ clock, userAgent: 'cost' }),
      identity: 'test',
      leadership: { mayWrite: () => true },
    },
  });
  ends.push(() => prober.stop());
  const stats = () => served.shootStats('a');
  await waitFor({ what: 'the first runs', withinMs: 30_000 }, () => stats().requests >= 6);
  const before = stats();
  const toSeed = seed.counts.total();
  await waitFor(
    { what: `${String(runs)} runs`, withinMs: 60_000 },
    () => stats().requests - before.requests >= 2 * runs,
  );
  const after = stats();
  const row = {
    nodes,
    requests: after.requests - before.requests,
    connections: after.connections - before.connections,
    resumed: after.resumed - before.resumed,
    toSeed: seed.counts.total() - toSeed,
  };
  rows.push(row);
  process.stdout.write(`healthy probes: ${JSON.stringify(row)}\n`);
  expect(row.toSeed).toBe(0);
  // A run may be in progress at the start and at the end.
  expect(Math.abs(row.requests - 2 * row.connections)).toBeLessThanOrEqual(2);
  expect(row.resumed).toBe(row.connections);
});
