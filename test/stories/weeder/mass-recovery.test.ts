import { expect, it } from 'vitest';
import { createWeederFixture } from '../../../simulator/harness/weeder/fixture.ts';
import { schedulerLabels } from '../../../simulator/harness/weeder/kubelet.ts';
import { requestKind } from '../../../simulator/network/counting.ts';

const shoots = Array.from({ length: 250 }, (_, index) => `shoot--s${String(index)}`);
const recoversAtMs = 10_000;
/** Duration of a response of the simulated seed. */
const answerMs = 20;

it('when a whole seed recovers at once, every crash-looping pod is deleted within two seconds of simulated time', async () => {
  const fixture = createWeederFixture();
  const { kubelet, clock, line } = fixture;

  // The etcds of 250 shoots are down, and two API servers of each crash-loop.
  for (const namespace of shoots) {
    kubelet.endpoints({ namespace, name: 'etcd-main-client' }, false);
    for (const name of ['api-1', 'api-2']) kubelet.crash({ namespace, name });
    kubelet.run({ namespace, name: 'sched-1', labels: schedulerLabels });
  }
  let deletesInFlight = 0;
  let mostInFlight = 0;
  let withoutDeadline = 0;
  line.setFaults((request) => {
    if (requestKind(request).verb !== 'delete') return undefined;
    deletesInFlight += 1;
    if (request.timeoutMs === undefined) withoutDeadline += 1;
    mostInFlight = Math.max(mostInFlight, deletesInFlight);
    clock.timer(answerMs, () => {
      deletesInFlight -= 1;
    });
    return { delayMs: answerMs };
  });
  fixture.start();
  await clock.advance(recoversAtMs);
  line.requests.reset();

  // All of them recover in the same second.
  for (const namespace of shoots) kubelet.endpoints({ namespace, name: 'etcd-main-client' }, true);
  await clock.advance(30_000);
  expect(kubelet.deleted).toHaveLength(2 * shoots.length);
  const times = kubelet.deleted.map((deleted) => Number(deleted.split(' ').at(-1)) - recoversAtMs / 1_000);
  const worst = Math.max(...times);
  process.stdout.write(`250 recoveries: last delete after ${worst.toFixed(2)} s at ${String(answerMs)} ms an answer\n`);
  expect(worst).toBeLessThan(2);

  // One watch shows all pods, 20 deletes are in flight at a time, and none lacks a deadline, which would open a new connection.
  const ofPods = (verb: string): number => line.requests.total({ verb, resource: 'pods' });
  expect([ofPods('list'), ofPods('watch'), mostInFlight, withoutDeadline]).toEqual([1, 1, 20, 0]);

  // No delete has waited for Events, which wait for the ordinary rate limit.
  expect(line.requests.total({ verb: 'create', resource: 'events' })).toBeLessThan(250);
  await fixture.stop();
});
