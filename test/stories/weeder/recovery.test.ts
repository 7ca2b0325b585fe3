import { expect, it } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { SimObject } from '../../../simulator/apiserver/object.ts';
import { createWeederFixture } from '../../../simulator/harness/weeder/fixture.ts';
import { isServiceReady } from '../../../simulator/world/index.ts';

const minute = 60_000;
const shoots = Array.from({ length: 12 }, (_, index) => ({
  name: `s${String(index)}`,
  nodes: 1,
  controlPlanePods: true,
}));

/** Seconds from the return of etcd, after half an hour or more, until all Deployments of each control plane were ready. */
const recover = async ({ isWeeded }: { readonly isWeeded: boolean }): Promise<readonly number[]> => {
  const { clock, world, start, stop } = createWeederFixture(shoots);
  if (isWeeded) start();
  await clock.advance(minute);
  for (const shoot of world.shoots) shoot.breakEtcd();
  await clock.advance(30 * minute);
  const seconds: number[] = [];
  for (const shoot of world.shoots) {
    const { namespace } = shoot;
    shoot.mendEtcd();
    await clock.runUntil(() => isServiceReady(world.store, { namespace, name: 'etcd-main-client' }));
    const readyAt = clock.now();
    await clock.runUntil(() => world.store.list(simKinds.Deployment, namespace).every(isWhole));
    seconds.push((clock.now() - readyAt) / 1_000);
  }
  await stop();
  return seconds.toSorted((a, b) => a - b);
};

const isWhole = ({ status }: SimObject): boolean =>
  (status as { readonly readyReplicas?: number } | undefined)?.readyReplicas === 1;

const formatSeconds = (seconds: readonly number[]): string =>
  `median ${(seconds[Math.floor(seconds.length / 2)] ?? 0).toFixed(0)} s, worst ${(seconds.at(-1) ?? 0).toFixed(0)} s`;

it('control planes whose etcd returns are healthy within a minute, instead of several minutes without the weeder', async () => {
  const alone = await recover({ isWeeded: false });
  const weeded = await recover({ isWeeded: true });
  process.stdout.write(
    `recovery of ${String(alone.length)} control planes: by themselves ${formatSeconds(alone)}; weeded ${formatSeconds(weeded)}\n`,
  );
  expect(alone.at(-1)).toBeGreaterThan(5 * 60);
  expect(weeded.at(-1)).toBeLessThan(60);
});
