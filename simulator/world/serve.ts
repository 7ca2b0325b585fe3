import type { Kube } from '../../src/kubernetes/api/kube.ts';
import { type SimHttpsServer, createCertificates, serveHttps } from '../network/index.ts';
import type { WorldServer } from './endpoint.ts';
import type { World } from './world.ts';

interface Served {
  readonly api: WorldServer;
  /** Handles the requests. Default: `api.kube`. */
  readonly kube?: Kube;
}

/** Serves one API server over HTTPS with its own certificate authority, and sets its address. `now` as for `serveWorld`. */
export const serve = async ({ api, kube = api.kube }: Served, now: number): Promise<SimHttpsServer> => {
  const certificates = await createCertificates({ now });
  const face = await serveHttps({ kube, certificates });
  api.setAddress({ url: face.url, ca: certificates.ca });
  return face;
};

/**
 * Serves the seed and all current shoots over HTTPS, each with its own certificate authority, and puts the shoots' new kubeconfigs into
 * their Secrets. `now`: the machine's time for the certificates, milliseconds since the epoch.
 */
export const serveWorld = async (world: World, now: number) => {
  const faces = await Promise.all([world, ...world.shoots].map(({ api }) => serve({ api }, now)));
  for (const shoot of world.shoots) shoot.publishKubeconfig();
  return {
    /** Kubeconfig of the seed with its current address. */
    kubeconfig: world.api.kubeconfig(),
    /** Ends all connections and listeners; the actors continue. */
    close: async (): Promise<void> => {
      await Promise.all(faces.map((face) => face.close()));
    },
  };
};

export type ServedWorld = Awaited<ReturnType<typeof serveWorld>>;
