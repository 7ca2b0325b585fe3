import { type HttpsFace, type HttpsStats, createCertificates, serveHttps } from '../network/index.ts';
import { annotationOf } from './clusters.ts';
import type { WorldServer } from './endpoint.ts';
import { kubeletsAnnotation } from './objects.ts';
import type { World } from './world.ts';

/** Puts the world on the loopback network. */
export interface ServedWorld {
  /** Of the seed, for its address of now. */
  readonly kubeconfig: string;
  /** What the server of a shoot has counted; throws when there is no such shoot. */
  shootStats(name: string): HttpsStats;
  /** Ends all connections and listeners; the actors go on. */
  close(): Promise<void>;
}

interface Served {
  readonly api: WorldServer;
  readonly reachesKubelets: () => boolean;
}

const serve = async ({ api, reachesKubelets }: Served, now: number): Promise<HttpsFace> => {
  const certificates = await createCertificates({ now });
  const face = await serveHttps({ kube: api.kube, certificates, reachesKubelets });
  api.setAddress({ url: face.url, ca: certificates.ca });
  return face;
};

/**
 * Serves the seed and every shoot of now over HTTPS, each with an authority of its own, and puts the shoots' new kubeconfigs into their
 * Secrets. `now`: the machine's time for the certificates, milliseconds since the epoch.
 */
export const serveWorld = async (world: World, now: number): Promise<ServedWorld> => {
  const servers: readonly Served[] = [
    { api: world.api, reachesKubelets: () => true },
    ...world.shoots.map(({ api, namespace }) => ({
      api,
      reachesKubelets: () => annotationOf(world.store, namespace, kubeletsAnnotation) !== 'cut',
    })),
  ];
  const faces = await Promise.all(servers.map((server) => serve(server, now)));
  for (const shoot of world.shoots) shoot.publishKubeconfig();
  return {
    kubeconfig: world.api.kubeconfig(),
    shootStats: (name) => {
      const face = faces[1 + world.shoots.findIndex((shoot) => shoot.name === name)];
      if (face === undefined || face === faces[0]) throw new Error(`there is no shoot ${name}`);
      return face.stats();
    },
    close: async () => {
      await Promise.all(faces.map((face) => face.close()));
    },
  };
};
