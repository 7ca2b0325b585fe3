import { expect, it } from 'vitest';
import { createSimApiServer } from '../../simulator/apiserver/server.ts';
import { customKind, simKinds } from '../../simulator/apiserver/kinds.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createSeededRandom } from '../../simulator/time/random.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { createWatchRegistry } from '../kubernetes/cache/index.ts';
import { createKubeClient } from '../kubernetes/client/index.ts';
import { createMeter } from '../telemetry/index.ts';
import { ObjectController } from './controller.ts';
import { deploymentCheck } from './object-checks.ts';
import { createHealthCheckMetrics } from './report.ts';

const workers = customKind(
  { group: 'extensions.gardener.cloud', version: 'v1alpha1', kind: 'Worker', resource: 'workers' },
  { status: true },
);

it('gives the calls of checks a timeout, without which each would take a new connection, like a watch', async () => {
  const clock = createVirtualClock();
  const api = createSimApiServer({ clock, kinds: [...Object.values(simKinds), workers] });
  api.store.put(simKinds.Cluster, { metadata: { name: 'one' }, spec: { shoot: {} } });
  api.store.put(workers, { metadata: { name: 'worker', namespace: 'one' }, spec: { type: 'local' } });
  const timeouts: unknown[] = [];
  const kube: Kube = {
    request: (request) => {
      if (request.path.includes('/deployments/')) timeouts.push(request.timeoutMs);
      return api.request(request);
    },
  };
  const meter = createMeter({ processMetrics: false });
  const seed = createKubeClient({ kube, clock });
  const shared = { clock, random: createSeededRandom(1), logger: createRecordingLogger(), kube, seed };
  const shoots = { clientFor: async () => seed, forget: () => undefined };
  const deps = { ...shared, shoots, registry: createWatchRegistry(meter), metrics: createHealthCheckMetrics(meter) };
  const checks = (['seed', 'shoot'] as const).map((cluster) => ({
    conditionType: 'ControlPlaneHealthy',
    check: deploymentCheck({ cluster, name: 'csi' }),
  }));
  const stop = new AbortController();
  const running = new ObjectController({ kind: 'Worker', type: 'local', checks }, deps).run(stop.signal);
  await clock.advance(1_000);
  expect(timeouts).toEqual([30_000, 30_000]);
  stop.abort(new Error('stopped'));
  await clock.run(running);
});
