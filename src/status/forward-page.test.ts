import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { kubeconfigOf } from '../../test/doubles/kubeconfig.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { temporaryDirectory } from '../../test/doubles/temporary-directory.ts';
import { startTestServer } from '../../test/doubles/test-server.ts';
import { forwardPage } from './forward-page.ts';

const podsPath = '/api/v1/namespaces/garden/pods';
const pods = { kind: 'PodList', items: [{ metadata: { name: 'prober-a', namespace: 'garden', uid: 'a' } }] };
const lease = { metadata: { name: 'lead', namespace: 'garden', uid: 'l' }, spec: { holderIdentity: 'prober-a_1f' } };

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};

/** Tries to show the page at a port of this machine, through an API server that refuses the paths with `refuses` in them. */
const showAt = async (localPort: number, refuses?: string): Promise<void> => {
  const api = await startTestServer({
    handler: ({ url = '' }, response) => {
      if (refuses !== undefined && url.includes(refuses)) {
        response.writeHead(403).end('{"kind":"Status","message":"not this"}');
      } else response.end(JSON.stringify(url.startsWith(podsPath) ? pods : lease));
    },
  });
  const kubeconfig = join(temporaryDirectory(), 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigOf({ server: `http://127.0.0.1:${String(api.port)}` }));
  await forwardPage({
    ...{ namespace: 'garden', selector: 'app=x', pagePort: 9645, localPort, kubeconfig, env: {}, version: '1' },
    ...{ timeoutMs: 10_000, logger: createRecordingLogger() },
    stop: new AbortController().signal,
    progress: () => undefined,
    onOpen: () => expect.unreachable('there is no page'),
    onProblem: () => expect.unreachable('the page was never open'),
  }).finally(() => api.close());
};

it.each<[what: string, refuses: string, reason: RegExp]>([
  ['no port may be forwarded', '/portforward', /403 Forbidden: not this$/],
  ['pods may not be listed', `${podsPath}?`, /^the pods of the prober: .*403 Forbidden: not this$/],
])('leaves no port open if the page cannot be shown, and tells why: %s', async (_, refuses, reason) => {
  const localPort = await freePort();
  await expect(showAt(localPort, refuses)).rejects.toThrow(reason);
  const client = connect(localPort, '127.0.0.1');
  await expect(once(client, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('tells that the port of this machine is in use, which is no bug', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const message = `listen EADDRINUSE: address already in use 127.0.0.1:${String(port)}`;
  await expect(showAt(port)).rejects.toMatchObject({ name: 'CommandError', message });
  await new Promise((resolve) => server.close(resolve));
});
