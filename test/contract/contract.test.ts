import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeEnvtest } from '../envtest/gate.ts';
import { contractCases } from './cases/index.ts';
import type { ContractCase } from './cases/target.ts';
import { type ContractServer, startInMemory, startOverHttps, startReal } from './servers.ts';

const minute = 60_000;

/** Names of the cases that were started, by server. */
const runs = new Map<string, string[]>();

const createNamespace = async (server: ContractServer, name: string): Promise<void> => {
  const response = await server.kube.request({
    method: 'POST',
    path: '/api/v1/namespaces',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name } }),
    timeoutMs: minute,
    signal: new AbortController().signal,
  });
  const answer: string[] = [];
  for await (const chunk of response.body) answer.push(Buffer.from(chunk).toString());
  expect(response.status, answer.join('')).toBe(201);
};

const runCase = async (server: ContractServer, contractCase: ContractCase, index: number): Promise<void> => {
  const namespace = `case-${index}`;
  const work = async (): Promise<void> => {
    await createNamespace(server, namespace);
    await contractCase.run({ kube: server.kube, namespace });
  };
  await server.drive(work());
};

const suite = (name: string, start: () => Promise<ContractServer>): void => {
  let server: ContractServer;
  const ran: string[] = [];

  beforeAll(async () => {
    server = await start();
    runs.set(name, ran);
  }, 2 * minute);

  afterAll(async () => {
    await server.stop();
  }, minute);

  it.for(contractCases.map((contractCase, index) => ({ ...contractCase, index })))('$name', async (contractCase) => {
    ran.push(contractCase.name);
    await runCase(server, contractCase, contractCase.index);
  });
};

describe('the simulator in memory', () => suite('simulator in memory', startInMemory));

// Both run on real time (a bookmark comes once a minute), so they run concurrently.
describe.concurrent('on real time', () => {
  describe('the simulator over HTTPS', () => suite('simulator over HTTPS', startOverHttps));
  describeEnvtest('a real kube-apiserver', () => suite('real kube-apiserver', startReal));
});

describe('the contract', () => {
  it('gives each case a unique name', () => {
    const names = contractCases.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('started every case on every server', () => {
    const lines = [...runs].map(([name, ran]) => `contract: ${ran.length} cases on the ${name}`);
    process.stdout.write(`${lines.join('\n')}\n`);
    for (const [name, ran] of runs) {
      expect([name, [...ran].sort()]).toEqual([name, contractCases.map((it) => it.name).sort()]);
    }
  });
});
