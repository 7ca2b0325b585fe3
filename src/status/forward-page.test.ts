import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { kubeconfigOf } from '../../test/doubles/kubeconfig.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
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

it.each<[what: string, refuses: string, reason: RegExp]>([
  ['no port may be forwarded', '/portforward', /403 Forbidden: not this$/],
  ['pods may not be listed', `${podsPath}?`, /^the pods of the prober: .*403 Forbidden: not this$/],
])('leaves no port open if the page cannot be shown, and tells why: %s', async (_, refuses, reason) => {
  const api = await startTestServer({
    handler: ({ url = '' }, response) => {
      if (url.includes(refuses)) response.writeHead(403).end('{"kind":"Status","message":"not this"}');
      else response.end(JSON.stringify(url.startsWith(podsPath) ? pods : lease));
    },
  });
  const directory = mkdtempSync(join(tmpdir(), 'page-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigOf({ server: `http://127.0.0.1:${String(api.port)}` }));
  const localPort = await freePort();
  const ended = forwardPage({
    ...{ namespace: 'garden', selector: 'app=x', pagePort: 9645, localPort, kubeconfig, env: {}, version: '1' },
    ...{ timeoutMs: 10_000, logger: createRecordingLogger() },
    stop: new AbortController().signal,
    progress: () => undefined,
    onOpen: () => expect.unreachable('there is no page'),
    onProblem: () => expect.unreachable('the page was never open'),
  });
  await expect(ended).rejects.toThrow(reason);
  const client = connect(localPort, '127.0.0.1');
  await expect(once(client, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await api.close();
  rmSync(directory, { recursive: true });
});
