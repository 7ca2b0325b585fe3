import { expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../../test/doubles/recording-logger.ts';
import type { Right } from '../../kubernetes/api/access.ts';
import type { CallResult, Call } from '../../kubernetes/api/call.ts';
import { ApiError } from '../../kubernetes/api/errors.ts';
import type { CallOptions } from '../../kubernetes/api/kube.ts';
import { createMeter } from '../../telemetry/meter.ts';
import { type NeededRight, RightsCheck, type RightsCheckOptions } from './check-rights.ts';

const need = (verb: string, resource = 'machines'): NeededRight => ({
  right: { verb, group: 'machine.sapcloud.io', resource },
  purpose: 'to judge',
});
const missingText = (verb: string, resource = 'machines'): string =>
  `${verb} resource "${resource}" in API group "machine.sapcloud.io" at the cluster scope`;

/** Starts a check whose settings are the needed rights, on an API server that `server` scripts. */
const setUp = (cluster?: RightsCheckOptions<unknown>['cluster']) => {
  const clock = createVirtualClock();
  const logger = createRecordingLogger();
  const meter = createMeter({ processMetrics: false });
  const server: { allows: (right: Partial<Right>) => boolean; failure?: unknown; hangs?: boolean } = {
    allows: () => true,
  };
  const asked: Partial<Right>[] = [];
  let underWay = 0;
  let mostUnderWay = 0;
  const answer = async (call: Call<unknown>, { signal }: CallOptions): Promise<unknown> => {
    const { spec } = call.body as { readonly spec: { readonly resourceAttributes: Partial<Right> } };
    asked.push(spec.resourceAttributes);
    if (server.hangs === true) await clock.sleep(Number.POSITIVE_INFINITY, signal);
    await clock.sleep(10, signal);
    if (server.failure !== undefined) throw server.failure as Error;
    return call.decode({ status: { allowed: server.allows(spec.resourceAttributes) } });
  };
  const call = async <T>(wanted: Call<T>, options: CallOptions): Promise<CallResult<T>> => {
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    try {
      return { value: (await answer(wanted, options)) as T, sentAt: 0, receivedAt: 0 };
    } finally {
      underWay -= 1;
    }
  };
  const check = new RightsCheck<readonly NeededRight[]>({
    client: { call },
    clock,
    logger,
    meter,
    settings: [need('list'), need('patch')],
    needed: (settings) => Promise.resolve(settings),
    ...(cluster === undefined ? {} : { cluster }),
  });
  const stop = new AbortController();
  let isReady = false;
  const running = check.run(stop.signal, () => {
    isReady = true;
  });
  return {
    ...{ clock, logger, server, asked, check },
    isReady: () => isReady,
    mostUnderWay: () => mostUnderWay,
    errors: () => logger.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields.right),
    gauge: async () => Number(/^dwd_missing_(?:garden_)?rights (\S+)$/m.exec(await meter.metricsText())?.[1]),
    metrics: () => meter.metricsText(),
    stop: async () => {
      stop.abort(new Error('stop'));
      await clock.settle();
      await running;
    },
  };
};

const minute = 60_000;

it('delays nothing else: it is ready at once, and sends one request at a time', async () => {
  const { isReady, clock, asked, mostUnderWay, stop } = setUp();
  expect(isReady()).toBe(true);
  await clock.advance(1_000);
  expect(asked.map(({ verb }) => verb)).toEqual(['list', 'patch']);
  expect(mostUnderWay()).toBe(1);
  await stop();
  expect(clock.pending).toBe(0);
});

it('logs a missing right once, soon sees it granted, and notices when it is revoked again', async () => {
  const { clock, server, logger, errors, gauge, stop } = setUp();
  server.allows = ({ verb }) => verb === 'list';
  await clock.advance(60 * minute);
  expect(errors()).toEqual([missingText('patch')]);
  expect(logger.lines[0]?.fields.needed).toBe('to judge');
  expect(await gauge()).toBe(1);
  server.allows = () => false;
  await clock.advance(6 * minute);
  expect(errors()).toEqual([missingText('patch'), missingText('list')]);
  expect(await gauge()).toBe(2);
  server.allows = () => true;
  await clock.advance(6 * minute);
  expect(logger.at('info')).toEqual(['no right is missing']);
  expect(await gauge()).toBe(0);
  server.allows = ({ verb }) => verb === 'list';
  await clock.advance(61 * minute);
  expect(errors()).toEqual([missingText('patch'), missingText('list'), missingText('patch')]);
  await stop();
});

it('logs in which cluster rights are missing, if that is not the seed', async () => {
  const { clock, server, logger, metrics, stop } = setUp('garden');
  server.allows = () => false;
  await clock.advance(minute);
  server.allows = () => true;
  expect(await metrics()).toMatch(/^dwd_missing_garden_rights 2$/m);
  expect(await metrics()).not.toContain('dwd_missing_rights');
  await clock.advance(6 * minute);
  expect(logger.at('error')).toEqual(Array(2).fill('a right is missing in the garden: grant it'));
  expect(logger.at('info')).toEqual(['no right is missing in the garden']);
  await stop();
});

it.each([
  new ApiError({ code: 'Forbidden', message: 'selfsubjectaccessreviews is forbidden', status: 403 }),
  new TypeError('a bug'),
])('logs no error if a review fails (%s), keeps the last result, and tries again', async (failure) => {
  const { clock, server, asked, logger, gauge, stop } = setUp();
  server.allows = () => false;
  await clock.advance(minute);
  expect(await gauge()).toBe(2);
  const before = logger.lines.length;
  server.failure = failure;
  await clock.advance(16 * minute);
  expect(asked.length).toBeGreaterThan(4);
  expect(new Set(logger.lines.slice(before).map(({ level }) => level))).toEqual(new Set(['debug']));
  expect(await gauge()).toBe(2);
  await stop();
});

it('checks a changed configuration at once, even during a check', async () => {
  const { clock, server, asked, check, errors, stop } = setUp();
  await clock.advance(minute);
  server.allows = ({ resource }) => resource === 'machines';
  check.apply([need('list'), need('get', 'new')]);
  await clock.advance(1_000);
  expect(errors()).toEqual([missingText('get', 'new')]);
  server.hangs = true;
  check.apply([need('list')]);
  await clock.advance(minute);
  server.hangs = false;
  server.allows = () => false;
  check.apply([need('watch', 'newer')]);
  await clock.advance(1_000);
  expect(asked.at(-1)?.verb).toBe('watch');
  expect(errors()).toEqual([missingText('get', 'new'), missingText('watch', 'newer')]);
  await stop();
  expect(clock.pending).toBe(0);
});

it('ends at once while a review hangs', async () => {
  const { clock, server, logger, stop } = setUp();
  server.hangs = true;
  await clock.advance(minute);
  await stop();
  expect(clock.pending).toBe(0);
  expect(logger.lines).toEqual([]);
});
