import { expect } from 'vitest';
import { simKinds } from '../../sim/index.ts';
import { type Api, createApi, type Reply } from './api.ts';
import { expectFailure, expectObject, made, namesOf } from './expectations.ts';
import { configMap, machine, pod, workload } from './fixtures.ts';
import { entryField, field, numberField, protobufBody } from './protobuf-writer.ts';
import { topic } from './target.ts';

const { ConfigMap, Deployment, Event, Lease, Machine, Pod, Secret } = simKinds;

const contentType = 'application/vnd.kubernetes.protobuf';

const send = (api: Api, method: 'POST' | 'PUT' | 'DELETE', at: { path: string; body: Uint8Array }): Promise<Reply> =>
  api.send(method, at.path, { contentType, body: at.body });

/** As Go writes it: what is empty is there too. */
const metadata = (name: string, ...more: readonly Buffer[]): Buffer =>
  field(1, field(1, name), field(2), field(3), field(4), field(5), field(6), numberField(7, 0), field(8), ...more);

const time = (seconds: number, nanos: number): Buffer =>
  Buffer.concat([numberField(1, seconds), numberField(2, nanos)]);

/** `main` of the image `none`, with what else Go writes of a container. */
const container = field(2, field(1, 'main'), field(2, 'none'), field(5), field(8), field(13), numberField(16, 0));

const deployment = (name: string, replicas: number): Uint8Array => {
  const template = field(3, field(1, entryField(11, 'app', name)), field(2, container, field(3), field(6)));
  const spec = field(2, numberField(1, replicas), field(2, entryField(1, 'app', name)), template, field(4, field(1)));
  return protobufBody('apps/v1', 'Deployment', metadata(name), spec, field(3, numberField(1, 0)));
};

const deleteOptions = (...fields: readonly Buffer[]): Uint8Array => protobufBody('v1', 'DeleteOptions', ...fields);

const preconditions = (uid: string, resourceVersion: string): Buffer =>
  field(2, field(1, uid), field(2, resourceVersion));

export const protobufBodyCases = topic('protobuf body', {
  'a lease: times to the microsecond, numbers, what is empty left out': async (target) => {
    const api = createApi(target);
    const holder = field(1, 'me');
    const renewed = field(4, time(1_763_712_000, 123_456_000));
    const spec = field(2, holder, numberField(2, 15), field(3, time(1, 0)), renewed, numberField(5, 0));
    const body = protobufBody('coordination.k8s.io/v1', 'Lease', metadata('a'), spec);
    expectObject(await send(api, 'POST', { path: api.at(Lease), body }), 201);
    const stored = expectObject(await api.get(api.at(Lease, 'a')));
    expect(stored.spec).toEqual({
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: '1970-01-01T00:00:01.000000Z',
      renewTime: '2025-11-21T08:00:00.123456Z',
      leaseTransitions: 0,
    });
    const { resourceVersion } = stored.metadata;
    const next = metadata('a', field(6, resourceVersion), entryField(12, 'who', 'ä 🌍'));
    const taken = protobufBody('coordination.k8s.io/v1', 'Lease', next, field(2, field(1)));
    const updated = expectObject(await send(api, 'PUT', { path: api.at(Lease, 'a'), body: taken }));
    expect(updated.spec).toEqual({ holderIdentity: '' });
    expect(updated.metadata.annotations).toEqual({ who: 'ä 🌍' });
    expectFailure(await send(api, 'PUT', { path: api.at(Lease, 'a'), body: taken }), { code: 409, reason: 'Conflict' });
  },

  'a deployment, at a count of 0 too': async (target) => {
    const api = createApi(target);
    const created = expectObject(await send(api, 'POST', { path: api.at(Deployment), body: deployment('a', 2) }), 201);
    expect(created.spec).toMatchObject({ replicas: 2, selector: { matchLabels: { app: 'a' } } });
    expect(created.spec.template).toMatchObject({
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'main', image: 'none' }] },
    });
    const body = deployment('a', 0);
    const updated = expectObject(await send(api, 'PUT', { path: api.at(Deployment, 'a'), body }));
    expect([updated.spec.replicas, updated.metadata.generation]).toEqual([0, 2]);
    const again = expectObject(await send(api, 'PUT', { path: api.at(Deployment, 'a'), body }));
    expect(again.metadata.resourceVersion).toBe(updated.metadata.resourceVersion);
  },

  'a scale': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Deployment), workload('a'));
    const path = api.at(Deployment, 'a', 'scale');
    const scale = (replicas: number): Uint8Array =>
      protobufBody('autoscaling/v1', 'Scale', metadata('a'), field(2, numberField(1, replicas)), field(3, field(2)));
    expect(expectObject(await send(api, 'PUT', { path, body: scale(3) })).spec).toEqual({ replicas: 3 });
    expect(expectObject(await send(api, 'PUT', { path, body: scale(0) })).spec).toEqual({});
    expect(expectObject(await api.get(api.at(Deployment, 'a'))).spec.replicas).toBe(0);
  },

  'an event, with the time of its kind': async (target) => {
    const api = createApi(target);
    const involved = field(2, field(1, 'Pod'), field(2, api.namespace), field(3, 'p'));
    const times = [
      field(6, time(1_763_712_000, 999)),
      field(10),
      field(11, numberField(1, 2), field(2, time(2, 5_000))),
    ];
    const said = [field(3, 'BackOff'), field(4, 'words'), field(5, field(1, 'me'), field(2)), field(9, 'Warning')];
    // With a series, the reporter has to tell who it is.
    const reporter = [field(12, 'Act'), field(14, 'example.com/me'), field(15, 'me-0')];
    const body = protobufBody('v1', 'Event', metadata('a'), involved, ...said, ...times, ...reporter);
    expectObject(await send(api, 'POST', { path: api.at(Event), body }), 201);
    expect(expectObject(await api.get(api.at(Event, 'a')))).toMatchObject({
      involvedObject: { kind: 'Pod', namespace: api.namespace, name: 'p' },
      reason: 'BackOff',
      message: 'words',
      source: { component: 'me' },
      type: 'Warning',
      firstTimestamp: '2025-11-21T08:00:00Z',
      series: { count: 2, lastObservedTime: '1970-01-01T00:00:02.000005Z' },
    });
  },

  'texts and bytes': async (target) => {
    const api = createApi(target);
    const texts = protobufBody('v1', 'ConfigMap', metadata('a'), entryField(2, 'x', 'ü'), entryField(2, 'y', ''));
    expectObject(await send(api, 'POST', { path: api.at(ConfigMap), body: texts }), 201);
    expect(expectObject(await api.get(api.at(ConfigMap, 'a'))).data).toEqual({ x: 'ü', y: '' });
    const secret = protobufBody('v1', 'Secret', metadata('a'), entryField(2, 'x', 'ü'), entryField(4, 'y', 'z'));
    expectObject(await send(api, 'POST', { path: api.at(Secret), body: secret }), 201);
    expect(expectObject(await api.get(api.at(Secret, 'a'))).data).toEqual({ x: 'w7w=', y: 'eg==' });
  },

  'of another kind, or none at all, is a BadRequest': async (target) => {
    const api = createApi(target);
    const badRequest = { code: 400, reason: 'BadRequest' };
    for (const wrong of [protobufBody('v1', 'Secret', metadata('a')), deployment('a', 2)]) {
      expectFailure(await send(api, 'POST', { path: api.at(ConfigMap), body: wrong }), {
        ...badRequest,
        message: /cannot be handled as a ConfigMap/,
      });
    }
    for (const text of ['abc', 'k8s\0abc', 'k8s\0']) {
      const message = /^the object provided is unrecognized \(must be of type ConfigMap\): /;
      const reply = await send(api, 'POST', { path: api.at(ConfigMap), body: Buffer.from(text) });
      expectFailure(reply, { ...badRequest, message });
    }
  },
});

export const deleteOptionsCases = topic('delete options', {
  'in protobuf: preconditions': async (target) => {
    const api = createApi(target);
    const { uid, resourceVersion } = (await made(api, api.at(ConfigMap), configMap('a'))).metadata;
    const path = api.at(ConfigMap, 'a');
    for (const wrong of [preconditions('nope', resourceVersion), preconditions(uid, '1')]) {
      const reply = await send(api, 'DELETE', { path, body: deleteOptions(wrong) });
      expectFailure(reply, { code: 409, reason: 'Conflict', details: { name: 'a', kind: 'ConfigMap' } });
    }
    const body = deleteOptions(preconditions(uid, resourceVersion), field(4, 'Background'));
    expect(expectObject(await send(api, 'DELETE', { path, body })).status).toBe('Success');
  },

  'in protobuf: the grace period, 0 too': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Pod), pod('a', { nodeName: 'n' }));
    const path = api.at(Pod, 'a');
    const marked = expectObject(await send(api, 'DELETE', { path, body: deleteOptions(numberField(1, 3)) }));
    expect(marked.metadata.deletionGracePeriodSeconds).toBe(3);
    await send(api, 'DELETE', { path, body: deleteOptions(numberField(1, 0)) });
    expectFailure(await api.get(path), { code: 404, reason: 'NotFound' });
  },

  'in protobuf: of custom kinds, of collections, in a dry run': async (target) => {
    const api = createApi(target);
    for (const kind of [Machine, ConfigMap]) {
      await made(api, api.at(kind), kind === Machine ? machine('a') : configMap('a'));
      const dry = deleteOptions(field(5, 'All'));
      expectObject(await send(api, 'DELETE', { path: api.at(kind, 'a'), body: dry }));
      expectObject(await send(api, 'DELETE', { path: api.at(kind), body: dry }));
      expect(namesOf(await api.get(api.at(kind)))).toEqual(['a']);
      expectObject(await send(api, 'DELETE', { path: api.at(kind), body: deleteOptions() }));
      expect(namesOf(await api.get(api.at(kind)))).toEqual([]);
    }
  },

  'dependents: orphaned or not, the older way': async (target) => {
    const api = createApi(target);
    for (const name of ['json', 'protobuf']) await made(api, api.at(Deployment), workload(name));
    const json = expectObject(await api.remove(api.at(Deployment, 'json'), { orphanDependents: true }));
    const path = api.at(Deployment, 'protobuf');
    const protobuf = expectObject(await send(api, 'DELETE', { path, body: deleteOptions(numberField(3, 1)) }));
    for (const { metadata: meta } of [json, protobuf]) expect(meta.finalizers).toEqual(['orphan']);
    await made(api, api.at(ConfigMap), configMap('a', {}, { finalizers: ['example.com/hold'] }));
    const held = await api.remove(api.at(ConfigMap, 'a'), { orphanDependents: false });
    expect([held.status, held.json.metadata.finalizers]).toEqual([202, ['example.com/hold']]);
  },

  'that contradict each other are Invalid': async (target) => {
    const api = createApi(target);
    const of = (field: string, reason: string) => ({
      group: 'meta.k8s.io',
      kind: 'DeleteOptions',
      causes: [expect.objectContaining({ field, reason }) as unknown],
    });
    for (const [options, details] of [
      [{ orphanDependents: true, propagationPolicy: 'Orphan' }, of('propagationPolicy', 'FieldValueInvalid')],
      [{ propagationPolicy: 'Nope' }, of('propagationPolicy', 'FieldValueNotSupported')],
      [{ dryRun: ['Nope'] }, of('dryRun', 'FieldValueNotSupported')],
    ] as const) {
      // Whether the object is there or not.
      const reply = await api.remove(api.at(ConfigMap, 'a'), options);
      expectFailure(reply, { code: 422, reason: 'Invalid', details });
    }
  },

  'that are none, and of no known media type': async (target) => {
    const api = createApi(target);
    const path = api.at(Machine, 'a');
    expectFailure(await send(api, 'DELETE', { path, body: Buffer.from('abc') }), {
      code: 400,
      reason: 'BadRequest',
      message: /^provided data does not appear to be a protobuf message, expected prefix \[107 56 115 0\]/,
    });
    expectFailure(await api.remove(path, { kind: 'Nope', apiVersion: 'v1' }), { code: 400, reason: 'BadRequest' });
    const xml = await api.send('DELETE', path, { contentType: 'text/xml', body: '<a/>' });
    expectFailure(xml, { code: 415, reason: 'UnsupportedMediaType' });
    const empty = await api.send('DELETE', path, { contentType: 'text/xml', body: '' });
    expectFailure(empty, { code: 404, reason: 'NotFound' });
  },
});
