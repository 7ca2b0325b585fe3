import { createSimApiServer } from '../../simulator/apiserver/server.ts';
import { createCertificates } from '../../simulator/network/certificates.ts';
import { serveHttps } from '../../simulator/network/https.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import { createSecurity } from '../../src/kubernetes/transport/security.ts';
import { type Transport, createTransport } from '../../src/kubernetes/transport/transport.ts';
import { systemClock } from '../../src/process/clock.ts';
import { startControlPlane } from '../envtest/control-plane.ts';

/** A server on which the cases run. */
export interface ContractServer {
  readonly kube: Kube;
  /** Runs a case. On a virtual clock, it also advances the time. */
  readonly drive: (work: Promise<void>) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const clock = systemClock();

/** Starts the simulator in memory, on virtual time: a request is a function call. */
export const startInMemory = async (): Promise<ContractServer> => {
  const virtual = createVirtualClock();
  const kube = createSimApiServer({ clock: virtual });
  return { kube, drive: (work) => virtual.run(work), stop: () => Promise.resolve() };
};

interface TransportInit {
  readonly port: number;
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
}

const connect = ({ port, ...trust }: TransportInit): Transport => {
  const security = createSecurity(trust);
  return createTransport({
    endpoint: { protocol: 'https:', host: '127.0.0.1', port, basePath: '' },
    security: () => Promise.resolve(security),
    clock,
    userAgent: 'contract-suite',
  });
};

const onRealTime = (kube: Kube, stop: () => Promise<void>): ContractServer => ({
  kube,
  drive: (work) => work,
  stop,
});

/** Starts the simulator behind HTTPS, on real time, and connects with the program's own transport. */
export const startOverHttps = async (): Promise<ContractServer> => {
  const certificates = await createCertificates({ now: Date.now() });
  const face = await serveHttps({ kube: createSimApiServer({ clock }), certificates });
  const transport = connect({ port: face.port, ca: certificates.ca });
  return onRealTime(transport, async () => {
    transport.close();
    await face.close();
  });
};

/** Starts a real kube-apiserver with etcd. */
export const startReal = async (): Promise<ContractServer> => {
  const controlPlane = await startControlPlane({ name: 'contract' });
  const { port, caPem, admin } = controlPlane;
  const transport = connect({ port, ca: caPem, cert: admin.certificatePem, key: admin.keyPem });
  return onRealTime(transport, async () => {
    transport.close();
    await controlPlane.stop();
  });
};
