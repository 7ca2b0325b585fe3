import { readFileSync } from 'node:fs';
import type { Kube, KubeClient } from '../../../src/kubernetes/api/kube.ts';
import { staticCredentials, withCredentials } from '../../../src/kubernetes/client/auth.ts';
import { createKubeClient } from '../../../src/kubernetes/client/client.ts';
import { fenceWrites } from '../../../src/kubernetes/client/fence-writes.ts';
import { createSecurity } from '../../../src/kubernetes/transport/security.ts';
import { createTransport } from '../../../src/kubernetes/transport/transport.ts';
import { parseUntrustedKubeconfig } from '../../../src/kubernetes/kubeconfig/untrusted.ts';
import { LeaderElector } from '../../../src/kubernetes/leaderelection/leader-elector.ts';
import { systemClock } from '../../../src/process/clock.ts';
import { systemRandom } from '../../../src/process/random.ts';
import { createRecordingLogger } from '../../doubles/recording-logger.ts';

/** Short times for tests against real servers, in the proportions of the defaults. */
export const shortTimes = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 400 };

export interface LeaseConnection {
  readonly kube: Kube;
  readonly client: KubeClient;
  close(): void;
}

export const connectTo = (kubeconfig: string): LeaseConnection => {
  const clock = systemClock();
  const { endpoint, tls, authorization } = parseUntrustedKubeconfig(kubeconfig);
  const security = createSecurity(tls);
  const transport = createTransport({
    endpoint,
    security: async () => security,
    clock,
    userAgent: 'leader-election-test',
  });
  const kube = withCredentials(transport, staticCredentials(authorization));
  return { kube, client: createKubeClient({ kube, clock }), close: () => transport.close() };
};

/** Suspends this process at this point of its code. */
const suspend = (): void => {
  process.kill(process.pid, 'SIGSTOP');
  // The signal may take effect a moment later.
  for (const since = performance.now(); performance.now() - since < 20; );
};

/**
 * Writes while it leads: `node process.ts KUBECONFIG-FILE NAMESPACE NAME IDENTITY` counts in `data.IDENTITY` of the ConfigMap NAME, as fast as it can,
 * and prints when it starts and stops leading. It ends when it loses leadership, and on SIGTERM. On SIGUSR2 it suspends itself before its next write:
 * a process that is suspended from outside may have started a write, and would send it after it wakes up.
 */
const main = async ([file = '', namespace = '', name = '', identity = '']: readonly string[]): Promise<void> => {
  const clock = systemClock();
  const connection = connectTo(readFileSync(file, 'utf8'));
  const { kube, client } = connection;
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort(new Error('SIGTERM')));
  let mustSuspend = false;
  process.once('SIGUSR2', () => (mustSuspend = true));
  let writing = Promise.resolve();
  const elector = new LeaderElector({
    client,
    clock,
    random: systemRandom(),
    logger: createRecordingLogger(),
    lease: { namespace, name },
    identity,
    ...shortTimes,
    onStarted: (signal) => {
      process.stdout.write('leading\n');
      writing = write(signal);
    },
    onStopped: (end) => {
      process.stdout.write(`${end}\n`);
      return writing;
    },
  });
  const fenced = createKubeClient({ kube: fenceWrites(kube, elector), clock });
  const path = `/api/v1/namespaces/${namespace}/configmaps/${name}`;
  const never = new AbortController().signal;
  const write = async (signal: AbortSignal): Promise<void> => {
    for (let count = 1; !signal.aborted; count += 1) {
      if (mustSuspend) suspend();
      mustSuspend = false;
      const body = { data: { [identity]: String(count) } };
      const call = {
        method: 'PATCH',
        path,
        contentType: 'application/merge-patch+json',
        body,
        decode: () => undefined,
      } as const;
      await fenced.call(call, { signal: never, timeoutMs: 900 }).catch(() => clock.sleep(5, never));
    }
  };
  await elector.run(stop.signal);
  connection.close();
};

if (import.meta.main) await main(process.argv.slice(2));
