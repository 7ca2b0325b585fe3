// Creates and deletes shoots by the hundred, in virtual time, under a real prober or weeder. Prints the heap size in bytes after each hundred.
// Runs as a separate process, so that nothing else is on its heap: `node --expose-gc come-and-go.ts prober|weeder HUNDREDS`.
import { argv, memoryUsage, stdout } from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';
import type { SimKind } from '../../simulator/apiserver/kind.ts';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { SimDraft } from '../../simulator/apiserver/store.ts';
import { type Scenario, createScenario } from '../../simulator/harness/scenario.ts';
import {
  type SimulatedReplicaOptions,
  prober as proberComponent,
  startReplica,
  weeder as weederComponent,
} from '../../simulator/harness/replica.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { weededServices, weederSettings } from '../../simulator/outages/world-settings.ts';
import { createSeededRandom } from '../../simulator/time/random.ts';
import type { World } from '../../simulator/world/world.ts';

type Objects = readonly (readonly [kind: SimKind, draft: SimDraft])[];

interface Component {
  start(scenario: Scenario): void;
  /** Objects of one shoot. */
  objectsOf(world: World, namespace: string): Objects;
  readonly livesMs: number;
  /** Time after which the component must have forgotten a deleted shoot. */
  readonly forgottenMs: number;
}

const common = (): Omit<SimulatedReplicaOptions<unknown>, 'settings'> => ({
  random: createSeededRandom('come and go'),
  limits: { qps: 1_000, burst: 1_000 },
});

const prober: Component = {
  start: (scenario) =>
    void startReplica(proberComponent(), scenario, {
      ...common(),
      settings: { ...gardenSettings, initialDelayMs: 500 },
    }),
  // All shoots use the API server of the one shoot that is not deleted.
  objectsOf: ({ store, shoots }, namespace) => {
    const [cluster] = store.list(simKinds.Cluster);
    const [secret] = store.list(simKinds.Secret, shoots[0]?.namespace);
    if (cluster === undefined || secret === undefined) throw new Error('the world has no shoot');
    return [
      [simKinds.Secret, { ...secret, metadata: { name: secret.metadata.name, namespace } }],
      [simKinds.Cluster, { ...cluster, metadata: { name: namespace } }],
    ];
  },
  livesMs: 25_000,
  forgottenMs: 25_000,
};

const weeder: Component = {
  start: (scenario) =>
    void startReplica(weederComponent, scenario, {
      ...common(),
      settings: weederSettings({ watchDurationMs: 20_000 }, undefined),
    }),
  objectsOf: (_, namespace) => {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: `rs-${namespace}`, controller: true };
    const labels = { 'gardener.cloud/role': 'controlplane', role: 'apiserver' };
    const state = { waiting: { reason: 'CrashLoopBackOff' } };
    return [
      [
        simKinds.Pod,
        {
          metadata: { name: 'pod', namespace, labels, ownerReferences: [owner] },
          spec: { nodeName: 'node', containers: [{ name: 'main' }] },
          status: { containerStatuses: [{ name: 'main', state }] },
        },
      ],
      [
        simKinds.EndpointSlice,
        {
          metadata: { name: 'slice', namespace, labels: { 'kubernetes.io/service-name': weededServices[0] } },
          addressType: 'IPv4',
          endpoints: [{ addresses: ['10.0.0.1'] }],
        },
      ],
    ];
  },
  livesMs: 25_000,
  // The weeder remembers the owners of pods for ten minutes.
  forgottenMs: 720_000,
};

const heapUsed = async (): Promise<number> => {
  for (let count = 0; count < 5; count += 1) {
    globalThis.gc?.();
    await turn();
  }
  return memoryUsage().heapUsed;
};

const playHundred = async ({ world, clock }: Scenario, component: Component, first: number): Promise<void> => {
  const objects = Array.from({ length: 100 }, (_, index) =>
    component.objectsOf(world, `shoot--fleeting--${String(first + index)}`),
  ).flat();
  for (const [kind, draft] of objects) world.store.put(kind, draft);
  await clock.advance(component.livesMs);
  for (const [kind, { metadata }] of objects) world.store.remove(kind, metadata);
  await clock.advance(component.forgottenMs);
  for (const { store } of [world, ...world.shoots]) store.compact();
};

const main = async (name: string | undefined, hundreds: number): Promise<void> => {
  const component = name === 'weeder' ? weeder : prober;
  const scenario = createScenario({ shoots: [{ name: 'a', nodes: 2 }] });
  component.start(scenario);
  await scenario.clock.advance(10_000);
  for (let count = 0; count < hundreds; count += 1) {
    await playHundred(scenario, component, count * 100);
    stdout.write(`${String(await heapUsed())}\n`);
  }
};

await main(argv[2], Number(argv[3]));
