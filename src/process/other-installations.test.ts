import { expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import type { Call, CallResult } from '../kubernetes/api/call.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import { OtherInstallations } from './other-installations.ts';

const leaseOf = (namespace: string, holder: string, renewed: number) => ({
  metadata: { namespace, name: 'dwd-prober-leader-election', uid: namespace, resourceVersion: String(renewed) },
  spec: {
    holderIdentity: holder,
    leaseDurationSeconds: 15,
    renewTime: new Date(renewed).toISOString().replace('Z', '000Z'),
  },
});

/** Starts the search on an API server with these Leases; the holders in `renewing` live. */
const setUp = (namespaces: readonly string[], renewing = namespaces) => {
  const clock = createVirtualClock();
  const logger = createRecordingLogger();
  const server = { renewing: new Set(renewing), failure: undefined as ApiError | undefined };
  const queries: unknown[] = [];
  const call = async <T>(wanted: Call<T>): Promise<CallResult<T>> => {
    queries.push(wanted.query?.fieldSelector);
    if (server.failure !== undefined) throw server.failure;
    const items = namespaces.map((namespace) =>
      leaseOf(namespace, `pod-of-${namespace}`, server.renewing.has(namespace) ? clock.now() : 0),
    );
    return { value: wanted.decode({ kind: 'LeaseList', metadata: {}, items }), sentAt: 0, receivedAt: 0 };
  };
  const search = new OtherInstallations({
    ...{ client: { call }, clock, logger, leaseName: 'dwd-prober-leader-election', ownNamespace: 'garden' },
  });
  const stop = new AbortController();
  const running = search.run(stop.signal, () => undefined);
  return {
    ...{ clock, logger, server, queries, search },
    stop: async () => {
      stop.abort(new Error('stop'));
      await clock.settle();
      await running;
    },
  };
};
const minute = 60_000;

it('tells of one that renews its Lease in another namespace, once, and when it is gone', async () => {
  const { clock, logger, server, search, queries, stop } = setUp(['garden', 'watch', 'dead'], ['garden', 'watch']);
  await clock.advance(6 * minute);
  expect(search.found()).toEqual(['watch (pod-of-watch)']);
  expect(logger.lines).toMatchObject([{ level: 'error', fields: { otherNamespace: 'watch', holder: 'pod-of-watch' } }]);
  server.renewing.clear();
  await clock.advance(6 * minute);
  expect(search.found()).toEqual([]);
  expect(logger.at('info')).toEqual(['no other installation is active any more']);
  expect(new Set(queries)).toEqual(new Set(['metadata.name=dwd-prober-leader-election']));
  await stop();
  expect(clock.pending).toBe(0);
});

it('is silent without the right to list Leases, and keeps what it knows', async () => {
  const { clock, logger, server, search, stop } = setUp(['watch']);
  await clock.advance(minute);
  server.failure = new ApiError({ code: 'Forbidden', message: 'leases is forbidden', status: 403 });
  await clock.advance(20 * minute);
  expect(search.found()).toEqual(['watch (pod-of-watch)']);
  expect(logger.at('error')).toHaveLength(1);
  await stop();
});

it('does not tell of one that was killed just before, whose Lease has not run out yet', async () => {
  const { clock, server, search, logger, stop } = setUp(['watch']);
  await clock.settle();
  server.renewing.clear();
  await clock.advance(minute);
  expect([search.found(), logger.lines]).toEqual([[], []]);
  await stop();
});
