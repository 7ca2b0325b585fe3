// A process of its own: serves some of the shoots over HTTPS, each through two doors, and keeps their kubelets and controllers going.
import { writeFileSync } from 'node:fs';
import { parseUntrustedKubeconfig } from '../../src/kube/index.ts';
import { systemClock } from '../../src/runtime/index.ts';
import {
  careSeedKinds,
  createCertificates,
  createWorld,
  type HttpsFace,
  serveHttps,
  type SimCertificates,
  type World,
  type WorldShoot,
} from '../../src/sim/index.ts';
import { type CountedKube, countKinds, sumTraffic, type Traffic, trafficOf } from '../support/traffic.ts';
import { type Door, type Doors, probeKind, type SeedObjects, type ShootsAnswer, type ShootsInit } from './protocol.ts';

const init = JSON.parse(process.argv[2] ?? '') as ShootsInit;
const clock = systemClock();
/** Nobody watches the shoots: what their history holds is only memory. */
const compactMs = 10_000;

interface CountedFace {
  readonly face: HttpsFace;
  readonly kube: CountedKube;
}

interface ServedShoot {
  readonly shoot: WorldShoot;
  readonly target: CountedFace;
  readonly floor: CountedFace;
}

const openDoor = async ({ api }: WorldShoot, certificates: SimCertificates): Promise<CountedFace> => {
  const kube = countKinds(api.kube);
  return { face: await serveHttps({ kube, certificates }), kube };
};

const serve = async (shoot: WorldShoot, certificates: SimCertificates): Promise<ServedShoot> => {
  const [target, floor] = [await openDoor(shoot, certificates), await openDoor(shoot, certificates)];
  shoot.api.setAddress({ url: target.face.url, ca: certificates.ca });
  shoot.publishKubeconfig();
  return { shoot, target, floor };
};

const count = ({ face, kube }: CountedFace): Traffic => trafficOf(face, kube);

const report = (served: readonly ServedShoot[]): ShootsAnswer => ({
  order: 'report',
  report: {
    traffic: sumTraffic(served.map(({ target }) => count(target))),
    fewestProbes: Math.min(...served.map(({ target }) => target.kube.kinds()[probeKind]?.requests ?? 0)),
    floor: sumTraffic(served.map(({ floor }) => count(floor))),
  },
});

const objectsOf = ({ store }: World): SeedObjects =>
  Object.fromEntries(careSeedKinds.map((kind) => [kind.kind, store.list(kind)]));

const doorOf = ({ shoot, floor }: ServedShoot): Door => {
  const { authorization = '' } = parseUntrustedKubeconfig(shoot.api.kubeconfig());
  return { port: floor.face.port, authorization };
};

const compact = (served: readonly ServedShoot[]): void => {
  for (const { shoot } of served) shoot.store.compact();
  clock.timer(compactMs, () => compact(served));
};

const main = async (): Promise<void> => {
  const names = Array.from({ length: init.shoots }, (_, index) => `s${String(init.first + index)}`);
  const { nodes, careObjects } = init;
  const shoots = names.map((name) => ({ name, nodes, careObjects }));
  const world = createWorld({ clock, seed: init.first, shoots });
  const certificates = await createCertificates({ now: clock.now() });
  const served: ServedShoot[] = [];
  for (const shoot of world.shoots) served.push(await serve(shoot, certificates));
  const doors: Doors = { ca: certificates.ca, doors: served.map(doorOf) };
  writeFileSync(init.doors, JSON.stringify(doors));
  writeFileSync(init.objects, JSON.stringify(objectsOf(world)));
  compact(served);
  const tell = (answer: ShootsAnswer): void => void process.send?.(answer);
  process.on('message', () => tell(report(served)));
  process.once('disconnect', () => process.exit());
  tell({ order: 'ready' });
};

await main();
