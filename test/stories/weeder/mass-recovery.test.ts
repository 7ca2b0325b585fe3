import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type WeederFixture, createWeederFixture } from '../../../simulator/harness/weeder/fixture.ts';
import { schedulerLabels } from '../../../simulator/harness/weeder/kubelet.ts';
import { requestKind } from '../../../simulator/network/counting.ts';

const shoots = Array.from({ length: 250 }, (_, index) => `shoot--s${String(index)}`);
const recoversAtMs = 10_000;
/** Duration of a response of the simulated seed. */
const answerMs = 20;

/** A whole seed recovers in the same second: the etcds of 250 shoots, each with two crash-looping API servers. */
describe('mass recovery', () => {
  let fixture: WeederFixture;
  let deletesInFlight = 0;
  let mostInFlight = 0;
  /** Number of requests without a deadline. Each of them would open a new connection. */
  let withoutDeadline = 0;

  beforeAll(async () => {
    fixture = createWeederFixture();
    const { kubelet, clock, line } = fixture;
    for (const namespace of shoots) {
      kubelet.endpoints({ namespace, name: 'etcd-main-client' }, false);
      for (const name of ['api-1', 'api-2']) kubelet.crash({ namespace, name });
      kubelet.run({ namespace, name: 'sched-1', labels: schedulerLabels });
    }
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
    for (const namespace of shoots) kubelet.endpoints({ namespace, name: 'etcd-main-client' }, true);
    await clock.advance(30_000);
  });
  afterAll(() => fixture.stop());

  it('deletes every crash-looping pod, within two seconds of simulated time', () => {
    expect(fixture.kubelet.deleted).toHaveLength(2 * shoots.length);
    const times = fixture.kubelet.deleted.map((line) => Number(line.split(' ').at(-1)) - recoversAtMs / 1_000);
    const worst = Math.max(...times);
    process.stdout.write(
      `250 recoveries: ready to delete, worst ${worst.toFixed(2)} s at ${String(answerMs)} ms an answer\n`,
    );
    expect(worst).toBeLessThan(2);
  });

  it('watches all pods with one watch, and sends 20 requests at a time', () => {
    const { requests } = fixture.line;
    expect([
      requests.total({ verb: 'list', resource: 'pods' }),
      requests.total({ verb: 'watch', resource: 'pods' }),
    ]).toEqual([1, 1]);
    expect([mostInFlight, withoutDeadline]).toEqual([20, 0]);
  });

  it('delays no delete by Events, which wait for the ordinary rate limit', () => {
    expect(fixture.line.requests.total({ verb: 'create', resource: 'events' })).toBeLessThan(250);
  });
});
