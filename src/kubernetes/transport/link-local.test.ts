import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { dial } from './dial.ts';
import type { Endpoint } from './endpoint.ts';
import { isLinkLocal, refusingLinkLocal } from './link-local.ts';
import { createSecurity } from './security.ts';

const refusedAddresses = [
  ...['169.254.0.0', '169.254.169.254', '169.254.170.2', '169.254.255.255', '100.100.100.200', '168.63.129.16'],
  ...['fe80::', 'fe80::1', 'fe80::1%eth0', 'febf:ffff::1', 'fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254'],
  ...['::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '0:0:0:0:0:ffff:a9fe:a9fe', '::169.254.169.254'],
  ...['64:ff9b::169.254.169.254', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::1'],
];

describe('rule 30: link-local addresses', () => {
  it.each(refusedAddresses)('rule 30: %s is refused', (address) => {
    expect(isLinkLocal(address)).toBe(true);
  });

  it.each([
    '169.253.255.255',
    '169.255.0.0',
    '10.0.0.1',
    '127.0.0.1',
    '::1',
    'fec0::1',
    'fd00::1',
    'a9fe::1',
    'kube-apiserver',
  ])('rule 30: %s is accepted', (host) => {
    expect(isLinkLocal(host)).toBe(false);
  });
});

const clock = createVirtualClock();

it('rule 30: one refused address among several refuses all', async () => {
  const found = [
    { address: '10.0.0.1', family: 4 },
    { address: 'fe80::1', family: 6 },
  ];
  await expect(refusingLinkLocal(async () => found)('two', clock)).rejects.toMatchObject({ code: 'ELINKLOCAL' });
  expect(await refusingLinkLocal(async () => found.slice(0, 1))('one', clock)).toEqual(found.slice(0, 1));
});

describe('rule 30: the dialer', () => {
  const security = createSecurity({});
  const { signal } = new AbortController();
  const connect = (endpoint: Partial<Endpoint>) =>
    dial({
      endpoint: { protocol: 'http:', host: 'h', port: 80, basePath: '', untrusted: true, ...endpoint },
      security,
      signal,
      clock,
    });

  // The system's resolver reads the last four as 169.254.169.254, but Node does not recognize them as addresses.
  const hosts = ['169.254.169.254', 'fe80::1', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.16689662'];

  it.each(hosts)('rule 30: opens nothing to %s', async (host) => {
    await expect(connect({ host })).rejects.toMatchObject({ code: 'ELINKLOCAL' });
    const proxy = { protocol: 'http:', host, port: 80 } as const;
    await expect(connect({ host: '127.0.0.1', proxy })).rejects.toMatchObject({ code: 'ELINKLOCAL' });
  });

  it('rule 30: does not connect to a link-local address through a proxy', async () => {
    const proxy = { protocol: 'http:', host: '127.0.0.1', port: 9 } as const;
    await expect(connect({ host: '169.254.169.254', proxy })).rejects.toMatchObject({ code: 'ELINKLOCAL' });
  });

  it('rule 30: connects to others by name', async () => {
    const server = createServer((socket) => socket.end());
    const port = await new Promise<number>((resolve) => {
      server.listen(0, 'localhost', () => resolve((server.address() as { readonly port: number }).port));
    });
    const socket = await connect({ host: 'localhost', port });
    expect(socket.remotePort).toBe(port);
    socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
});
