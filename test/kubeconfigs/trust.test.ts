import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { connectionError, createSecurity, dial } from '../../src/kubernetes/transport/index.ts';
import { clientGo } from './client-go.ts';
import { type TrustCase, trustCases } from './trust-cases.ts';

/**
 * Cases that OpenSSL judges differently from Go. docs/dev/connections.md explains them. None lets a server in that has no certificate of an anchor, for
 * its name and in its time.
 */
const ours: Readonly<Record<string, string>> = {
  "server's self-signed certificate, marked for signing only, as CA": 'INVALID_PURPOSE',
  'CA without basic constraints': 'trusted',
  'expired intermediate and its root as CA, a valid one sent': 'CERT_HAS_EXPIRED',
  'two roots of one name without key identifiers, the other first': 'CERT_SIGNATURE_FAILURE',
};

const cases = await trustCases(Date.now());

/** Connects to a real server with these certificates. Resolves with `trusted`, or with the code of the error. */
const judge = async ({ ca, chain, key, serverName: servername }: TrustCase): Promise<string> => {
  const server = createServer({ cert: chain, key }, (socket) => socket.on('error', () => undefined).end());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const endpoint = { protocol: 'https:', host: '127.0.0.1', port, basePath: '', servername } as const;
  try {
    const { signal } = new AbortController();
    const socket = await dial({ endpoint, security: createSecurity({ ca }), signal, clock: createVirtualClock() });
    socket.destroy();
    return 'trusted';
  } catch (error) {
    // Each refusal is explained.
    const at = { method: 'GET', path: '/', target: servername, phase: 'connecting' } as const;
    expect(connectionError(error, at).message).toMatch(/^GET \/: the .*server's certificate.* \(/);
    return String((error as { readonly code?: unknown }).code);
  }
};

describe('trust in a server', () => {
  it('is judged by Go for the same cases', () => {
    expect(cases.map(({ name }) => name).sort()).toEqual(Object.keys(clientGo.trust).sort());
  });

  it.each(cases)('rule 29a: is as in Go: $name', async (one) => {
    const verdict = await judge(one);
    const known = ours[one.name];
    if (known === undefined) expect(verdict === 'trusted').toBe(clientGo.trust[one.name]?.trusted);
    else expect([verdict, verdict === 'trusted']).toEqual([known, !clientGo.trust[one.name]?.trusted]);
  });
});
