import { afterAll, beforeAll, describe, it } from 'vitest';
import { createSimApiServer } from '../../simulator/apiserver/server.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import { createSecurity } from '../../src/kubernetes/transport/security.ts';
import { createTransport } from '../../src/kubernetes/transport/transport.ts';
import { systemClock } from '../../src/process/clock.ts';
import { startControlPlane } from '../envtest/control-plane.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { createApi } from './cases/api.ts';
import { made } from './cases/expectations.ts';
import { contractCases } from './cases/index.ts';

/** A server on which the cases run. */
interface ContractServer {
  readonly kube: Kube;
  /** Runs a case. On a virtual clock, it also advances the time. */
  readonly drive: (work: Promise<void>) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Starts the simulator in memory, on virtual time: a request is a function call. */
const startInMemory = async (): Promise<ContractServer> => {
  const clock = createVirtualClock();
  return { kube: createSimApiServer({ clock }), drive: (work) => clock.run(work), stop: () => Promise.resolve() };
};

/** Starts a real kube-apiserver with etcd, and connects with the program's own transport. */
const startReal = async (): Promise<ContractServer> => {
  const { port, caPem, admin, stop } = await startControlPlane({ name: 'contract' });
  const security = createSecurity({ ca: caPem, cert: admin.certificatePem, key: admin.keyPem });
  const transport = createTransport({
    endpoint: { protocol: 'https:', host: '127.0.0.1', port, basePath: '' },
    security: () => Promise.resolve(security),
    clock: systemClock(),
    userAgent: 'contract-suite',
  });
  return {
    kube: transport,
    drive: (work) => work,
    stop: () => {
      transport.close();
      return stop();
    },
  };
};

const minute = 60_000;

const suite = (start: () => Promise<ContractServer>): void => {
  let server: ContractServer;

  beforeAll(async () => {
    server = await start();
  }, 2 * minute);

  afterAll(() => server.stop(), minute);

  it.for(contractCases.map(([name, run], index) => ({ name, run, namespace: `case-${index}` })))(
    '$name',
    ({ run, namespace }) => {
      const api = createApi({ kube: server.kube, namespace });
      return server.drive(made(api, '/api/v1/namespaces', { metadata: { name: namespace } }).then(() => run(api)));
    },
  );
};

describe('the simulator in memory', () => suite(startInMemory));

// Its cases run concurrently, because some wait: a bookmark comes once a minute.
describe.concurrent('on real time', () => {
  describeEnvtest('a real kube-apiserver', () => suite(startReal));
});
