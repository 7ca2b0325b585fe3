import { expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { outcomeOf } from '../../test/doubles/outcome.ts';
import { createScriptedKube } from '../../test/doubles/scripted-kube.ts';
import { createKubeClient, retryThrottled } from '../kubernetes/client/index.ts';
import { readShoot } from './act.ts';

it('a garden that throttles a read is told as such at once, and not as a garden that does not respond', async () => {
  const [clock, server] = [createVirtualClock(), createScriptedKube()];
  const client = createKubeClient({ kube: retryThrottled(server, clock), clock });
  const { signal } = new AbortController();
  const writer = { clock, client, takeOver: false, dryRun: false };
  const outcome = outcomeOf(readShoot(writer, { namespace: 'garden-dev', name: 'one' }, { signal, longestMs: 30_000 }));
  await clock.settle();
  const exchange = server.take();
  exchange.request.beforeSend?.();
  exchange.respond(429, {}, { 'retry-after': '7' });
  await clock.settle();
  expect(outcome()).toMatchObject({ ok: false, error: { code: 'TooManyRequests' } });
});
