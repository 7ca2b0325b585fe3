import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { createApi } from './api.ts';
import { causesOf, expectFailure, expectObject } from './expectations.ts';
import { cluster, configMap, machine, watermill, workload } from './fixtures.ts';
import { topic } from './target.ts';

const { ConfigMap, Cluster, Deployment, Machine, Watermill } = simKinds;

export const createCases = topic('create', {
  'returns 201 with name, namespace, uid, resourceVersion and creation time': async (target) => {
    const api = createApi(target);
    const made = expectObject(await api.create(api.at(ConfigMap), configMap('a', { k: 'v' })), 201);
    expect(made).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { k: 'v' } });
    expect(made.metadata).toMatchObject({ name: 'a', namespace: api.namespace });
    expect(made.metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expect(made.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
    expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(made.metadata).not.toHaveProperty('generation');
  },

  'a created object can be read, unchanged': async (target) => {
    const api = createApi(target);
    const made = expectObject(await api.create(api.at(ConfigMap), configMap('a')), 201);
    expect(expectObject(await api.get(api.at(ConfigMap, 'a')))).toEqual(made);
  },

  'resourceVersions grow from object to object, across kinds': async (target) => {
    const api = createApi(target);
    const first = expectObject(await api.create(api.at(ConfigMap), configMap('a')), 201);
    const second = expectObject(await api.create(api.at(Machine), machine('b')), 201);
    expect(Number(second.metadata.resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion));
  },

  'empty labels and annotations are omitted': async (target) => {
    const api = createApi(target);
    const made = expectObject(
      await api.create(api.at(ConfigMap), configMap('a', {}, { labels: {}, annotations: {} })),
      201,
    );
    expect(made.metadata).not.toHaveProperty('labels');
    expect(made.metadata).not.toHaveProperty('annotations');
  },

  'a taken name is AlreadyExists, for built-in and custom kinds': async (target) => {
    const api = createApi(target);
    await api.create(api.at(Deployment), workload('a'));
    const again = await api.create(api.at(Deployment), workload('a'));
    const details = { name: 'a', group: 'apps', kind: 'deployments' };
    expectFailure(again, {
      code: 409,
      reason: 'AlreadyExists',
      message: 'deployments.apps "a" already exists',
      details,
    });
    await api.create(api.at(Watermill), watermill('a'));
    expectFailure(await api.create(api.at(Watermill), watermill('a')), { code: 409, reason: 'AlreadyExists' });
  },

  'generateName gives a unique name of the prefix and five letters': async (target) => {
    const api = createApi(target);
    const names = new Set<string>();
    for (let count = 0; count < 3; count += 1) {
      const made = expectObject(await api.create(api.at(ConfigMap), { metadata: { generateName: 'gen-' } }), 201);
      expect(made.metadata.generateName).toBe('gen-');
      expect(made.metadata.name).toMatch(/^gen-[a-z0-9]{5}$/);
      names.add(made.metadata.name);
    }
    expect(names.size).toBe(3);
  },

  'a missing name is Invalid': async (target) => {
    const api = createApi(target);
    const reply = await api.create(api.at(ConfigMap), { metadata: {} });
    expectFailure(reply, {
      code: 422,
      reason: 'Invalid',
      message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    });
    expect(causesOf(reply)).toEqual([['FieldValueRequired', 'metadata.name']]);
  },

  'a bad name is Invalid, with the rule in the message': async (target) => {
    const api = createApi(target);
    const builtIn = await api.create(api.at(ConfigMap), configMap('A_b'));
    expectFailure(builtIn, {
      code: 422,
      reason: 'Invalid',
      message: /^ConfigMap "A_b" is invalid: .*lowercase RFC 1123 subdomain/,
    });
    expect(causesOf(builtIn)).toEqual([['FieldValueInvalid', 'metadata.name']]);
    const custom = await api.create(api.at(Cluster), cluster('A_b'));
    expectFailure(custom, {
      code: 422,
      reason: 'Invalid',
      message: /^Cluster.extensions.gardener.cloud "A_b" is invalid/,
    });
    expect(causesOf(custom)).toEqual([['FieldValueInvalid', 'metadata.name']]);
  },

  'the name of a namespace is a label': async (target) => {
    const api = createApi(target);
    const reply = await api.create(api.at(simKinds.Namespace), { metadata: { name: 'a.b' } });
    expectFailure(reply, { code: 422, reason: 'Invalid', message: /must not contain dots$/ });
  },

  'another namespace in the body than in the path is BadRequest': async (target) => {
    const api = createApi(target);
    const reply = await api.create(api.at(ConfigMap), { metadata: { name: 'a', namespace: 'other' } });
    const message = 'the namespace of the provided object does not match the namespace sent on the request';
    expectFailure(reply, { code: 400, reason: 'BadRequest', message });
  },

  'a missing namespace is NotFound, for built-in and custom kinds': async (target) => {
    const api = createApi(target);
    const details = { name: 'no-such-namespace', kind: 'namespaces' };
    const failure = { code: 404, reason: 'NotFound', message: 'namespaces "no-such-namespace" not found', details };
    expectFailure(await api.create('/api/v1/namespaces/no-such-namespace/configmaps', configMap('a')), failure);
    const path = api.at(Machine).replace(api.namespace, 'no-such-namespace');
    expectFailure(await api.create(path, machine('a')), failure);
  },

  'a resourceVersion is refused with 500': async (target) => {
    const api = createApi(target);
    const reply = await api.create(api.at(ConfigMap), { metadata: { name: 'a', resourceVersion: '1' } });
    expectFailure(reply, { code: 500, message: 'resourceVersion should not be set on objects to be created' });
  },

  'uid, generation and times of the writer are replaced': async (target) => {
    const api = createApi(target);
    const metadata = { name: 'a', uid: 'mine', generation: 7, creationTimestamp: '2000-01-01T00:00:00Z' };
    const made = expectObject(await api.create(api.at(Deployment), { ...workload('a'), metadata }), 201);
    expect(made.metadata.uid).not.toBe('mine');
    expect(made.metadata.generation).toBe(1);
    expect(made.metadata.creationTimestamp).not.toBe('2000-01-01T00:00:00Z');
  },

  'malformed JSON is BadRequest': async (target) => {
    const api = createApi(target);
    for (const body of ['{bad', '[]', '{"metadata":']) {
      expectFailure(await api.create(api.at(ConfigMap), body), { code: 400, reason: 'BadRequest' });
      expectFailure(await api.create(api.at(Machine), body), { code: 400, reason: 'BadRequest' });
    }
  },

  'another kind or version than the path has is BadRequest': async (target) => {
    const api = createApi(target);
    const bodies = [
      { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } },
      { kind: 'ConfigMap', apiVersion: 'v2', metadata: { name: 'a' } },
      { kind: 'ConfigMap', apiVersion: 'apps/v1', metadata: { name: 'a' } },
    ];
    for (const body of bodies) {
      expectFailure(await api.create(api.at(ConfigMap), body), { code: 400, reason: 'BadRequest' });
    }
  },

  'a body of unknown media type is 415': async (target) => {
    const api = createApi(target);
    const reply = await api.send('POST', api.at(ConfigMap), { body: configMap('a'), contentType: 'text/plain' });
    expectFailure(reply, {
      code: 415,
      reason: 'UnsupportedMediaType',
      message: /accepted media types include: application\/json/,
    });
  },

  'a POST to all namespaces is 405': async (target) => {
    const reply = await createApi(target).create('/api/v1/configmaps', configMap('a'));
    const message = 'the server does not allow this method on the requested resource';
    expectFailure(reply, { code: 405, reason: 'MethodNotAllowed', message, details: {} });
  },

  'a POST to an object is 405': async (target) => {
    const api = createApi(target);
    expectFailure(await api.create(api.at(ConfigMap, 'a'), configMap('a')), { code: 405, reason: 'MethodNotAllowed' });
  },
});
