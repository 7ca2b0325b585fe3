import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { demoPagePosts } from './page.ts';
import { createVirtualClock } from '../time/clock.ts';
import { createWorld } from '../world/world.ts';
import { demoShoots, shootsOfSeed } from './setting.ts';
import type { DemoFault } from './stage.ts';

it('fills a seed with other shoots', () => {
  expect(shootsOfSeed(6).map(({ name }) => name)).toEqual([
    ...['alpha', 'bravo', 'charlie', 'twin'],
    ...['other-001', 'other-002'],
  ]);
  expect(shootsOfSeed(0)).toEqual(demoShoots);
});

const post = async (body: unknown) => {
  const injected: string[] = [];
  const { shoots } = createWorld({ clock: createVirtualClock(), shoots: [{ name: 'other-001' }] });
  const inject = ({ kind, shoot }: DemoFault): void => void injected.push(`${kind}: ${shoot}`);
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, { host: 'h', origin: 'http://h', 'content-type': 'application/json' });
  request.push(JSON.stringify(body));
  request.push(null);
  const answer = await demoPagePosts({ allShoots: shoots, inject }).get('/demo/faults')?.(request);
  return { status: answer?.status, injected };
};

it("cuts off any shoot of the seed by the page's buttons, and no other", async () => {
  const kind = 'cut kubelets';
  expect(await post({ namespace: 'shoot--sim--other-001', kind })).toEqual({
    status: 200,
    injected: ['cut kubelets: other-001'],
  });
  for (const body of [{ namespace: 'kube-system', kind }, { namespace: 'shoot--sim--other-001', kind: 'x' }, {}, 1]) {
    expect(await post(body)).toEqual({ status: 400, injected: [] });
  }
});
