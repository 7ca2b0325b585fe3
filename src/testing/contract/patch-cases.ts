import { expect } from 'vitest';
import { simKinds } from '../../sim/index.ts';
import { createApi, type PatchName } from './api.ts';
import { causesOf, expectFailure, expectObject, made } from './expectations.ts';
import { configMap, machine, node, pod, watermill, workload } from './fixtures.ts';
import type { Json } from './json.ts';
import { topic } from './target.ts';

const { ConfigMap, Deployment, Machine, Node, Pod, Watermill } = simKinds;

const annotation = 'dependency-watchdog.gardener.cloud/replicas';
const pointer = `/metadata/annotations/${annotation.replace('/', '~1')}`;

export const mergePatchCases = topic('merge patch', {
  'sets, replaces lists whole, and removes by null': async (target) => {
    const api = createApi(target);
    await made(
      api,
      api.at(Machine),
      machine('a', { spec: { keep: 1, gone: 2, list: [1, 2], nested: { x: 1, y: 2 } } }),
    );
    const patch = { spec: { gone: null, list: [3], nested: { y: null, z: 3 } } };
    const after = expectObject(await api.patch(api.at(Machine, 'a'), 'merge', patch));
    expect(after.spec).toEqual({ keep: 1, list: [3], nested: { x: 1, z: 3 } });
  },

  'annotations and the count of a deployment change in one request': async (target) => {
    const api = createApi(target);
    const before = await made(api, api.at(Deployment), workload('a', { replicas: 3 }));
    const { resourceVersion } = before.metadata;
    const patch = { metadata: { resourceVersion, annotations: { [annotation]: '3' } }, spec: { replicas: 0 } };
    const after = expectObject(await api.patch(api.at(Deployment, 'a'), 'merge', patch));
    expect([after.spec.replicas, after.metadata.annotations]).toEqual([0, { [annotation]: '3' }]);
  },

  'removing the last annotation leaves none': async (target) => {
    const api = createApi(target);
    await made(api, api.at(ConfigMap), configMap('a', {}, { annotations: { x: 'y' } }));
    const after = expectObject(
      await api.patch(api.at(ConfigMap, 'a'), 'merge', { metadata: { annotations: { x: null } } }),
    );
    expect(after.metadata).not.toHaveProperty('annotations');
  },

  'a stale resourceVersion in the patch is a Conflict': async (target) => {
    const api = createApi(target);
    const before = await made(api, api.at(Deployment), workload('a'));
    expectObject(await api.patch(api.at(Deployment, 'a'), 'merge', { spec: { replicas: 2 } }));
    const { resourceVersion } = before.metadata;
    const reply = await api.patch(api.at(Deployment, 'a'), 'merge', {
      metadata: { resourceVersion },
      spec: { replicas: 0 },
    });
    expectFailure(reply, { code: 409, reason: 'Conflict', details: { name: 'a', group: 'apps', kind: 'deployments' } });
    expect(expectObject(await api.get(api.at(Deployment, 'a'))).spec.replicas).toBe(2);
  },

  'a stale resourceVersion is a Conflict for custom kinds too': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Watermill), watermill('a'));
    const patch = { metadata: { resourceVersion: '1', labels: { x: 'y' } } };
    expectFailure(await api.patch(api.at(Watermill, 'a'), 'merge', patch), { code: 409, reason: 'Conflict' });
  },

  'the present resourceVersion and uid in the patch are fine': async (target) => {
    const api = createApi(target);
    const { metadata } = await made(api, api.at(ConfigMap), configMap('a'));
    const { resourceVersion, uid } = metadata;
    expectObject(
      await api.patch(api.at(ConfigMap, 'a'), 'merge', { metadata: { resourceVersion, uid }, data: { x: 'y' } }),
    );
  },

  'a patch that changes nothing keeps the resourceVersion': async (target) => {
    const api = createApi(target);
    const before = await made(api, api.at(Machine), machine('a', { spec: { x: 1 } }));
    for (const patch of [{}, { spec: { x: 1 } }, { spec: { none: null } }, { metadata: { labels: { none: null } } }]) {
      const after = expectObject(await api.patch(api.at(Machine, 'a'), 'merge', patch));
      expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    }
  },

  'the uid is immutable': async (target) => {
    const api = createApi(target);
    await made(api, api.at(ConfigMap), configMap('a'));
    const reply = await api.patch(api.at(ConfigMap, 'a'), 'merge', { metadata: { uid: 'other' } });
    expectFailure(reply, {
      code: 422,
      reason: 'Invalid',
      message: 'ConfigMap "a" is invalid: metadata.uid: Invalid value: "other": field is immutable',
    });
    expect(causesOf(reply)).toContainEqual(['FieldValueInvalid', 'metadata.uid']);
  },

  'the name is fixed': async (target) => {
    const api = createApi(target);
    await made(api, api.at(ConfigMap), configMap('a'));
    const reply = await api.patch(api.at(ConfigMap, 'a'), 'merge', { metadata: { name: 'b' } });
    expectFailure(reply, {
      code: 400,
      reason: 'BadRequest',
      message: 'the name of the object (b) does not match the name on the URL (a)',
    });
  },

  'what is not there is NotFound': async (target) => {
    const api = createApi(target);
    expectFailure(await api.patch(api.at(ConfigMap, 'a'), 'merge', { data: {} }), {
      code: 404,
      reason: 'NotFound',
      message: 'configmaps "a" not found',
      details: { name: 'a', kind: 'configmaps' },
    });
  },

  'malformed patches are BadRequest': async (target) => {
    const api = createApi(target);
    await made(api, api.at(ConfigMap), configMap('a'));
    for (const type of ['merge', 'json', 'strategic'] as const satisfies PatchName[]) {
      expectFailure(await api.patch(api.at(ConfigMap, 'a'), type, '{bad'), { code: 400, reason: 'BadRequest' });
    }
    expectFailure(await api.patch(api.at(ConfigMap, 'a'), 'merge', '[]'), { code: 400, reason: 'BadRequest' });
  },

  'negative replicas are Invalid': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Deployment), workload('a'));
    const reply = await api.patch(api.at(Deployment, 'a'), 'merge', { spec: { replicas: -1 } });
    expectFailure(reply, {
      code: 422,
      reason: 'Invalid',
      message: /spec.replicas: Invalid value: -1: must be greater than or equal to 0$/,
    });
  },

  'replicas that are no number are Invalid': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Deployment), workload('a'));
    const reply = await api.patch(api.at(Deployment, 'a'), 'merge', { spec: { replicas: 'two' } });
    expectFailure(reply, { code: 422, reason: 'Invalid' });
    expect(causesOf(reply)).toEqual([['FieldValueInvalid', 'patch']]);
  },

  'the status is out of reach where it is a subresource': async (target) => {
    const api = createApi(target);
    const before = await made(api, api.at(Deployment), workload('a'));
    const after = expectObject(await api.patch(api.at(Deployment, 'a'), 'merge', { status: { replicas: 5 } }));
    expect(after.status).toEqual({});
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  },

  'patches without precondition at the same time all land': async (target) => {
    const api = createApi(target);
    await made(api, api.at(ConfigMap), configMap('a'));
    const keys = ['a', 'b', 'c', 'd'];
    const replies = await Promise.all(
      keys.map((key) => api.patch(api.at(ConfigMap, 'a'), 'merge', { data: { [key]: key } })),
    );
    for (const reply of replies) expectObject(reply);
    expect(expectObject(await api.get(api.at(ConfigMap, 'a'))).data).toEqual({ a: 'a', b: 'b', c: 'c', d: 'd' });
  },

  'no declared patch type is 415': async (target) => {
    const api = createApi(target);
    await made(api, api.at(ConfigMap), configMap('a'));
    for (const contentType of ['application/json', 'text/plain']) {
      const reply = await api.send('PATCH', api.at(ConfigMap, 'a'), { body: {}, contentType });
      expectFailure(reply, {
        code: 415,
        reason: 'UnsupportedMediaType',
        message: '415: Unsupported Media Type',
        details: {},
      });
    }
  },
});

export const jsonPatchCases = topic('JSON patch', {
  'add, replace, remove, copy, move': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Machine), machine('a', { spec: { a: 1, b: 2, list: ['x', 'y'] } }));
    const patch = [
      { op: 'add', path: '/spec/c', value: 3 },
      { op: 'replace', path: '/spec/a', value: 9 },
      { op: 'copy', from: '/spec/b', path: '/spec/d' },
      { op: 'move', from: '/spec/b', path: '/spec/e' },
      { op: 'add', path: '/spec/list/1', value: 'between' },
      { op: 'add', path: '/spec/list/-', value: 'end' },
      { op: 'remove', path: '/spec/list/0' },
    ];
    const after = expectObject(await api.patch(api.at(Machine, 'a'), 'json', patch));
    expect(after.spec).toEqual({ a: 9, c: 3, d: 2, e: 2, list: ['between', 'y', 'end'] });
  },

  'a test that holds lets the patch through': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Deployment), workload('a', { replicas: 3 }, { annotations: { x: 'y' } }));
    const patch = [
      { op: 'test', path: '/spec/replicas', value: 3 },
      { op: 'add', path: pointer, value: '3' },
      { op: 'replace', path: '/spec/replicas', value: 0 },
    ];
    const after = expectObject(await api.patch(api.at(Deployment, 'a'), 'json', patch));
    expect([after.spec.replicas, after.metadata.annotations]).toEqual([0, { x: 'y', [annotation]: '3' }]);
  },

  'a test that fails is Invalid, and nothing is changed': async (target) => {
    const api = createApi(target);
    const before = await made(api, api.at(Deployment), workload('a', { replicas: 3 }));
    const patch = [
      { op: 'replace', path: '/spec/replicas', value: 0 },
      { op: 'test', path: '/spec/paused', value: true },
    ];
    const reply = await api.patch(api.at(Deployment, 'a'), 'json', patch);
    const message = 'the server rejected our request due to an error in our request';
    expectFailure(reply, { code: 422, reason: 'Invalid', message, details: {} });
    const after = expectObject(await api.get(api.at(Deployment, 'a')));
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  },

  'a test for null holds where there is nothing': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Machine), machine('a'));
    const patch = [
      { op: 'test', path: '/spec/none', value: null },
      { op: 'add', path: '/spec/x', value: 1 },
    ];
    expect(expectObject(await api.patch(api.at(Machine, 'a'), 'json', patch)).spec).toEqual({ x: 1 });
  },

  'a test on the resourceVersion is a precondition': async (target) => {
    const api = createApi(target);
    const { metadata } = await made(api, api.at(Watermill), watermill('a'));
    const patch = (value: string): unknown => [
      { op: 'test', path: '/metadata/resourceVersion', value },
      { op: 'add', path: '/spec/x', value: 1 },
    ];
    expectFailure(await api.patch(api.at(Watermill, 'a'), 'json', patch('1')), { code: 422, reason: 'Invalid' });
    expectObject(await api.patch(api.at(Watermill, 'a'), 'json', patch(metadata.resourceVersion)));
  },

  'paths that are not there are Invalid': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Machine), machine('a', { spec: { list: ['x'] } }));
    const patches = [
      [{ op: 'remove', path: '/spec/none' }],
      [{ op: 'replace', path: '/none/deep', value: 1 }],
      [{ op: 'add', path: '', value: {} }],
      [{ op: 'replace', path: '/spec/list/1', value: 1 }],
      [{ op: 'add', path: '/spec/list/2', value: 1 }],
      [{ op: 'copy', from: '/spec/list/1', path: '/spec/x' }],
      [{ op: 'test', path: '/spec/list/1', value: null }],
      [{ op: 'test', path: '/none/deep', value: null }],
      [{ op: 'nonsense', path: '/spec' }],
      [{ op: 'add', path: '/none/deep/er', value: 1 }],
      [{ op: 'move', from: '/spec/none', path: '/spec/x' }],
    ];
    for (const patch of patches) {
      expectFailure(await api.patch(api.at(Machine, 'a'), 'json', patch), {
        code: 422,
        reason: 'Invalid',
        details: {},
      });
    }
  },

  'is laxer than RFC 6902: replace adds, indices count from the end': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Machine), machine('a', { spec: { list: ['x', 'y', 'z'] } }));
    const patch = [
      { op: 'replace', path: '/spec/new', value: 1 },
      { op: 'remove', path: '/spec/list/-1' },
      { op: 'replace', path: '/spec/list/-2', value: 'w' },
      { op: 'add', path: '/spec/list/-1', value: 'end' },
    ];
    const after = expectObject(await api.patch(api.at(Machine, 'a'), 'json', patch));
    expect(after.spec).toEqual({ new: 1, list: ['w', 'y', 'end'] });
  },

  'keys with slashes and tildes are escaped': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Machine), machine('a', { spec: { 'a/b': 1, 'c~d': 2 } }));
    const patch = [
      { op: 'remove', path: '/spec/a~1b' },
      { op: 'replace', path: '/spec/c~0d', value: 3 },
    ];
    expect(expectObject(await api.patch(api.at(Machine, 'a'), 'json', patch)).spec).toEqual({ 'c~d': 3 });
  },

  'a patch that is no list is BadRequest': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Machine), machine('a'));
    expectFailure(await api.patch(api.at(Machine, 'a'), 'json', { op: 'add' }), { code: 400, reason: 'BadRequest' });
  },
});

const conditionsOf = (object: Json): readonly (readonly [string, string])[] =>
  object.status.conditions.map(({ type, status }) => [type, status]);

export const strategicPatchCases = topic('strategic merge patch', {
  'conditions of nodes and deployments are merged by type': async (target) => {
    const api = createApi(target);
    const patch = async (path: string, conditions: unknown): Promise<Json> =>
      expectObject(await api.patch(`${path}/status`, 'strategic', { status: { conditions } }));
    await made(api, api.at(Node), node(api.namespace));
    await made(api, api.at(Deployment), workload('a'));
    for (const path of [api.at(Node, api.namespace), api.at(Deployment, 'a')]) {
      await patch(path, [
        { type: 'A', status: 'True' },
        { type: 'B', status: 'True' },
      ]);
      const after = await patch(path, [
        { type: 'B', status: 'Unknown' },
        { type: 'C', status: 'False' },
      ]);
      expect([...conditionsOf(after)].sort()).toEqual([
        ['A', 'True'],
        ['B', 'Unknown'],
        ['C', 'False'],
      ]);
    }
    await api.remove(api.at(Node, api.namespace));
  },

  'a condition is deleted by directive': async (target) => {
    const api = createApi(target);
    const path = api.at(Pod, 'a', 'status');
    await made(api, api.at(Pod), pod('a'));
    const conditions = [
      { type: 'A', status: 'True' },
      { type: 'B', status: 'True' },
    ];
    expectObject(await api.patch(path, 'strategic', { status: { conditions } }));
    const removal = { status: { conditions: [{ $patch: 'delete', type: 'A' }] } };
    expect(conditionsOf(expectObject(await api.patch(path, 'strategic', removal)))).toEqual([['B', 'True']]);
  },

  'containers are merged by name': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Deployment), workload('a'));
    const template = {
      spec: {
        containers: [
          { name: 'main', image: 'other' },
          { name: 'second', image: 'none' },
        ],
      },
    };
    const after = expectObject(await api.patch(api.at(Deployment, 'a'), 'strategic', { spec: { template } }));
    const { containers } = after.spec.template.spec;
    expect(containers.map(({ name, image }) => [name, image]).sort()).toEqual([
      ['main', 'other'],
      ['second', 'none'],
    ]);
  },

  'finalizers are merged as a set and deleted by directive': async (target) => {
    const api = createApi(target);
    const path = api.at(ConfigMap, 'a');
    await made(api, api.at(ConfigMap), configMap('a', {}, { finalizers: ['x.io/a', 'x.io/b'] }));
    const added = expectObject(await api.patch(path, 'strategic', { metadata: { finalizers: ['x.io/c', 'x.io/a'] } }));
    expect([...(added.metadata.finalizers as string[])].sort()).toEqual(['x.io/a', 'x.io/b', 'x.io/c']);
    const removal = { metadata: { '$deleteFromPrimitiveList/finalizers': ['x.io/a', 'x.io/b', 'x.io/c'] } };
    expect(expectObject(await api.patch(path, 'strategic', removal)).metadata).not.toHaveProperty('finalizers');
  },

  'taints are replaced whole, labels merged, null removes': async (target) => {
    const api = createApi(target);
    const path = api.at(Node, api.namespace);
    const taint = (key: string): unknown => ({ key, effect: 'NoSchedule' });
    await made(api, api.at(Node), {
      metadata: { name: api.namespace, labels: { a: '1', b: '2' } },
      spec: { taints: [taint('a')] },
    });
    const patch = { metadata: { labels: { a: null, c: '3' } }, spec: { taints: [taint('b')] } };
    const after = expectObject(await api.patch(path, 'strategic', patch));
    expect(after.metadata.labels).toEqual({ b: '2', c: '3' });
    expect(after.spec.taints.map(({ key }) => key)).toEqual(['b']);
    await api.remove(path);
  },

  'a stale resourceVersion is a Conflict': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Deployment), workload('a'));
    const patch = { metadata: { resourceVersion: '1' }, spec: { replicas: 0 } };
    expectFailure(await api.patch(api.at(Deployment, 'a'), 'strategic', patch), { code: 409, reason: 'Conflict' });
  },

  'custom kinds do not know it: 415': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Watermill), watermill('a'));
    for (const path of [api.at(Watermill, 'a'), api.at(Watermill, 'a', 'scale')]) {
      expectFailure(await api.patch(path, 'strategic', { spec: {} }), {
        code: 415,
        reason: 'UnsupportedMediaType',
        message:
          'the body of the request was in an unknown format - accepted media types include: ' +
          'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
      });
    }
  },
});
