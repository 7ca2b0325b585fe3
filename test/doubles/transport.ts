import { onTestFinished } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import {
  type Endpoint,
  type TlsMaterial,
  type Transport,
  createSecurity,
  createTransport,
} from '../../src/kubernetes/transport/index.ts';

type Options = Partial<Parameters<typeof createTransport>[0]>;

/** Creates a transport to a port of this machine: over plain HTTP, or over TLS with this material. It is closed at the end of the test. */
export const transportTo = (
  { tls, ...endpoint }: Partial<Endpoint> & Pick<Endpoint, 'port'> & { readonly tls?: TlsMaterial },
  options: Options = {},
): Transport => {
  const security = createSecurity(tls ?? {});
  const transport = createTransport({
    endpoint: { protocol: tls === undefined ? 'http:' : 'https:', host: '127.0.0.1', basePath: '', ...endpoint },
    security: async () => security,
    clock: createVirtualClock(),
    userAgent: 'dependency-watchdog/test',
    ...options,
  });
  onTestFinished(() => transport.close());
  return transport;
};
