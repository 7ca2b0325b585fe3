import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { Reply } from './api.ts';
import { expectObject, made } from './expectations.ts';
import { statefulSet, watermill, workload } from './fixtures.ts';
import { topic } from './target.ts';

const { Deployment, StatefulSet, Watermill } = simKinds;

export const generationCases = topic('generation', {
  'deployments: counts changes of spec and annotations, not of labels or status': async (api) => {
    const path = api.at(Deployment, 'a');
    const generation = async (reply: Promise<Reply>): Promise<number> => expectObject(await reply).metadata.generation;
    await made(api, api.at(Deployment), workload('a'));
    expect(await generation(api.patch(path, { metadata: { labels: { x: 'y' } } }))).toBe(1);
    expect(await generation(api.patch(path, { spec: { replicas: 2 } }))).toBe(2);
    expect(await generation(api.patch(`${path}/status`, { status: { replicas: 2 } }))).toBe(2);
    expect(await generation(api.patch(path, { spec: { replicas: 2 } }))).toBe(2);
    expectObject(await api.patch(`${path}/scale`, { spec: { replicas: 0 } }));
    expect(await generation(api.get(path))).toBe(3);
    const annotations = { x: 'y' };
    expect(await generation(api.patch(path, { metadata: { annotations } }))).toBe(4);
    const both = { metadata: { annotations: { x: null } }, spec: { replicas: 1 } };
    expect(await generation(api.patch(path, both))).toBe(5);
    expect(await generation(api.patch(`${path}/status`, { metadata: { annotations } }))).toBe(5);
  },

  'stateful sets: counts changes of the spec, not of annotations': async (api) => {
    const path = api.at(StatefulSet, 'a');
    await made(api, api.at(StatefulSet), statefulSet('a'));
    const annotated = expectObject(await api.patch(path, { metadata: { annotations: { x: 'y' } } }));
    expect(annotated.metadata.generation).toBe(1);
    const after = expectObject(await api.patch(api.at(StatefulSet, 'a'), { spec: { replicas: 0 } }));
    expect(after.metadata.generation).toBe(2);
  },

  'custom kinds with status subresource: counts everything but metadata and status': async (api) => {
    const path = api.at(Watermill, 'a');
    const generation = async (reply: Promise<Reply>): Promise<number> => expectObject(await reply).metadata.generation;
    await made(api, api.at(Watermill), watermill('a'));
    expect(await generation(api.patch(path, { metadata: { labels: { x: 'y' } } }))).toBe(1);
    expect(await generation(api.patch(`${path}/status`, { status: { turning: 1 } }))).toBe(1);
    expect(await generation(api.patch(path, { spec: { wheel: { count: 5 } } }))).toBe(2);
    expect(await generation(api.patch(path, { other: { x: 1 } }))).toBe(3);
    expectObject(await api.patch(`${path}/scale`, { spec: { replicas: 0 } }));
    expect(await generation(api.get(path))).toBe(4);
  },
});
