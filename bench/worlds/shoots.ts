// Separate process: serves some of the shoots over HTTPS, each on a port for the target and one for the floor, and runs their kubelets and controllers.
import { writeFileSync } from 'node:fs';
import { careSeedKinds } from '../../simulator/apiserver/care-kinds.ts';
import type { SimObject } from '../../simulator/apiserver/object.ts';
import { type SimCertificates, createCertificates } from '../../simulator/network/certificates.ts';
import { type SimHttpsServer, serveHttps } from '../../simulator/network/https.ts';
import type { WorldShoot } from '../../simulator/world/shoot.ts';
import { type World, createWorld } from '../../simulator/world/world.ts';
import { parseUntrustedKubeconfig } from '../../src/kubernetes/kubeconfig/untrusted.ts';
import { systemClock } from '../../src/process/clock.ts';
import { type Answers, answerOrders, servedArgs } from '../../test/envtest/served.ts';
import {
  type CountedKube,
  type ServerTraffic,
  countKinds,
  probeKind,
  sumTraffic,
  trafficOf,
} from '../harness/traffic.ts';
import type { FloorEndpoint, FloorEndpoints } from './floor.ts';

/** Arguments of the process. */
export interface ShootsInit {
  /** Number of the first shoot; the numbers of the others follow. */
  readonly first: number;
  readonly shoots: number;
  readonly nodes: number;
  /** True to include the objects from which care reads the health of shoots. */
  readonly careObjects: boolean;
  /** Path of the file to which the process writes its `FloorEndpoints`. */
  readonly doors: string;
  /** Path of the file to which the process writes its `ShootObjects`. */
  readonly objects: string;
}

/** Objects of the shoots in the seed, by kind. */
export type ShootObjects = Readonly<Record<string, readonly SimObject[]>>;

export interface ShootsProcess extends Answers {
  readonly ready: null;
  readonly report: {
    /** Traffic of the target. */
    readonly traffic: ServerTraffic;
    /** Number of the target's lists of leases, of the shoot with the fewest. */
    readonly fewestProbes: number;
    readonly floor: ServerTraffic;
  };
}

const init = servedArgs() as ShootsInit;
const clock = systemClock();
/** Interval at which the history of the shoots' stores is dropped to save memory, because nothing watches the shoots. */
const compactMs = 10_000;

interface CountedFace {
  readonly face: SimHttpsServer;
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

const count = ({ face, kube }: CountedFace): ServerTraffic => trafficOf(face, kube);

const report = (served: readonly ServedShoot[]): ShootsProcess['report'] => ({
  traffic: sumTraffic(served.map(({ target }) => count(target))),
  fewestProbes: Math.min(...served.map(({ target }) => target.kube.kinds()[probeKind]?.requests ?? 0)),
  floor: sumTraffic(served.map(({ floor }) => count(floor))),
});

const objectsOf = ({ store }: World): ShootObjects =>
  Object.fromEntries(careSeedKinds.map((kind) => [kind.kind, store.list(kind)]));

const doorOf = ({ shoot, floor }: ServedShoot): FloorEndpoint => {
  const { authorization = '' } = parseUntrustedKubeconfig(shoot.api.kubeconfig());
  return { port: floor.face.port, authorization };
};

const compact = (served: readonly ServedShoot[]): void => {
  for (const { shoot } of served) shoot.store.compact();
  clock.timer(compactMs, () => compact(served));
};

const names = Array.from({ length: init.shoots }, (_, index) => `s${String(init.first + index)}`);
const { nodes, careObjects } = init;
const shoots = names.map((name) => ({ name, nodes, careObjects }));
const world = createWorld({ clock, seed: init.first, shoots });
const certificates = await createCertificates({ now: clock.now() });
const served: ServedShoot[] = [];
for (const shoot of world.shoots) served.push(await serve(shoot, certificates));
const doors: FloorEndpoints = { ca: certificates.ca, doors: served.map(doorOf) };
writeFileSync(init.doors, JSON.stringify(doors));
writeFileSync(init.objects, JSON.stringify(objectsOf(world)));
compact(served);
answerOrders<ShootsProcess>(null, { report: () => report(served) });
