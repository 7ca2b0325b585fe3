import { expect } from 'vitest';
import { type SimKind, apiVersionOf } from '../../../simulator/apiserver/kind.ts';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { expectObject, topic } from './expectations.ts';
import type { Json } from './json.ts';

const resourceIn = (list: Json, name: string): Json | undefined =>
  list.resources.find((resource) => resource.name === name);

const groupPath = (kind: SimKind): string =>
  kind.group === '' ? `/api/${kind.version}` : `/apis/${apiVersionOf(kind)}`;

export const discoveryCases = topic('discovery', {
  'GET /version returns the version': async (api) => {
    const version = expectObject(await api.get('/version'));
    expect(version).toMatchObject({ major: '1', minor: '36' });
    expect(version.gitVersion).toMatch(/^v1\.36\./);
    expect(version.platform).toBe('linux/amd64');
  },

  'GET /healthz returns ok as text, for every Accept header': async (api) => {
    for (const accept of ['*/*', 'application/json']) {
      const reply = await api.send('GET', '/healthz', { accept });
      expect([reply.status, reply.text]).toEqual([200, 'ok']);
      expect(reply.headers['content-type']).toMatch(/^text\/plain/);
    }
  },

  'GET /apis/GROUP lists its versions': async (api) => {
    for (const { group, version } of Object.values(simKinds).filter((kind) => kind.group !== '')) {
      expect(expectObject(await api.get(`/apis/${group}`))).toMatchObject({
        kind: 'APIGroup',
        apiVersion: 'v1',
        name: group,
        preferredVersion: { groupVersion: `${group}/${version}`, version },
      });
    }
  },

  'every kind is listed with its scope, its kind and its verbs': async (api) => {
    for (const kind of Object.values(simKinds)) {
      const list = expectObject(await api.get(groupPath(kind)));
      expect(list).toMatchObject({ kind: 'APIResourceList', groupVersion: apiVersionOf(kind) });
      const resource = resourceIn(list, kind.resource);
      expect(resource).toMatchObject({ kind: kind.kind, namespaced: kind.namespaced, singularName: kind.singular });
      expect(resource?.verbs).toEqual(
        expect.arrayContaining(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']),
      );
    }
  },

  'subresources are listed if a kind has them, a scale as autoscaling/v1': async (api) => {
    for (const kind of Object.values(simKinds)) {
      const list = expectObject(await api.get(groupPath(kind)));
      const scale = resourceIn(list, `${kind.resource}/scale`);
      if (kind.scale === undefined) expect(scale).toBeUndefined();
      else expect(scale).toMatchObject({ group: 'autoscaling', version: 'v1', kind: 'Scale' });
      expect(resourceIn(list, `${kind.resource}/status`) !== undefined, kind.kind).toBe(kind.status);
    }
  },

  'a path outside the API is 404 as text': async (api) => {
    for (const path of [
      '/nope',
      '/apis/nope.io/v1/foos',
      '/apis/nope.io',
      '/apis/extensions.gardener.cloud/v9/clusters',
    ]) {
      const reply = await api.get(path);
      expect([path, reply.status, reply.text]).toEqual([path, 404, '404 page not found\n']);
      expect(reply.headers['content-type']).toBe('text/plain; charset=utf-8');
    }
  },
});
