import { afterAll, beforeAll, describe, it } from 'vitest';
import { describeEnvtest } from '../envtest/gate.ts';
import { createApi } from './cases/api.ts';
import { made } from './cases/expectations.ts';
import { contractCases } from './cases/index.ts';
import { type ContractServer, startInMemory, startOverHttps, startReal } from './servers.ts';

const minute = 60_000;

const suite = (start: () => Promise<ContractServer>): void => {
  let server: ContractServer;

  beforeAll(async () => {
    server = await start();
  }, 2 * minute);

  afterAll(async () => {
    await server.stop();
  }, minute);

  it.for(contractCases.map(([name, run], index) => ({ name, run, namespace: `case-${index}` })))(
    '$name',
    ({ run, namespace }) => {
      const api = createApi({ kube: server.kube, namespace });
      return server.drive(made(api, '/api/v1/namespaces', { metadata: { name: namespace } }).then(() => run(api)));
    },
  );
};

describe('the simulator in memory', () => suite(startInMemory));

// Both run on real time (a bookmark comes once a minute), so they run concurrently.
describe.concurrent('on real time', () => {
  describe('the simulator over HTTPS', () => suite(startOverHttps));
  describeEnvtest('a real kube-apiserver', () => suite(startReal));
});
