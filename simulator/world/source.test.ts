import { expect, it } from 'vitest';
import { createVirtualClock } from '../time/clock.ts';
import { createWorld } from './world.ts';

const { signal } = new AbortController();

it.each([
  ['secret', [404, 404, 200]],
  ['gardener', [200, 200, 200]],
] as const)(
  'a seed with the source %s responds to lists of Clusters, Machines and Secrets with %j',
  async (source, statuses) => {
    const { api } = createWorld({ clock: createVirtualClock(), shoots: [{ name: 'a' }], source });
    const paths = ['extensions.gardener.cloud/v1alpha1/clusters', 'machine.sapcloud.io/v1alpha1/machines'];
    const all = [...paths.map((path) => `/apis/${path}`), '/api/v1/secrets'];
    const responses = await Promise.all(all.map((path) => api.server.request({ method: 'GET', path, signal })));
    expect(responses.map(({ status }) => status)).toEqual(statuses);
  },
);
