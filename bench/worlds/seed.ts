// Separate process: serves the API server of the seed, with the objects that the processes of the shoots have written to files. In a healthy
// seed only the times of the extensions' reports change.
import { readFileSync } from 'node:fs';
import { careSeedKinds } from '../../simulator/apiserver/care-kinds.ts';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { createSeededRandom } from '../../simulator/time/random.ts';
import { serve } from '../../simulator/world/serve.ts';
import { startExtensionReports } from '../../simulator/world/shoot-care.ts';
import { type World, createWorld } from '../../simulator/world/world.ts';
import { systemClock } from '../../src/process/clock.ts';
import { type Answers, answerOrders, servedArgs } from '../../test/envtest/served.ts';
import { type ServerTraffic, countKinds, trafficOf } from '../harness/traffic.ts';
import type { ShootObjects } from './shoots.ts';

export interface SeedProcess extends Answers {
  readonly ready: { readonly kubeconfig: string };
  readonly traffic: ServerTraffic;
}

/** Paths of files that each hold `ShootObjects` as JSON. */
const files = servedArgs() as readonly string[];
const clock = systemClock();
const kinds = new Map(careSeedKinds.map((kind) => [kind.kind, kind]));

const startReports = ({ store }: World): void => {
  const random = createSeededRandom(0);
  for (const { metadata } of store.list(simKinds.Cluster)) {
    startExtensionReports({ clock, store, random: random.fork(metadata.name) }, metadata.name);
  }
};

const world = createWorld({ clock, shoots: [], kinds: careSeedKinds });
for (const file of files) {
  const objects = JSON.parse(readFileSync(file, 'utf8')) as ShootObjects;
  for (const [name, items] of Object.entries(objects)) {
    const kind = kinds.get(name);
    if (kind !== undefined) for (const item of items) world.store.put(kind, item);
  }
}
startReports(world);
const kube = countKinds(world.api.kube);
const face = await serve({ api: world.api, kube }, clock.now());
answerOrders<SeedProcess>({ kubeconfig: world.api.kubeconfig() }, { traffic: () => trafficOf(face, kube) });
