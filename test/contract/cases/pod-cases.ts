import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { JsonMap } from '../../../simulator/apiserver/object.ts';
import type { Api } from './api.ts';
import { expectFailure, expectObject, made, namesOf, topic } from './expectations.ts';
import { containerStatus, pod } from './fixtures.ts';
import type { Json } from './json.ts';
import { story } from './watcher.ts';

const { Pod } = simKinds;

/** Binds a pod to a node, so that its deletion waits for a kubelet. */
const onNode = { nodeName: 'n', terminationGracePeriodSeconds: 7 };

const preconditionsOf = ({ metadata: { uid, resourceVersion } }: Json): JsonMap => ({
  preconditions: { uid, resourceVersion },
});

const setStatus = async (api: Api, name: string, status: Readonly<JsonMap>): Promise<Json> =>
  expectObject(await api.patch(api.at(Pod, name, 'status'), { status }));

const terminated = {
  exitCode: 255,
  reason: 'Error',
  startedAt: '2026-01-01T00:00:00Z',
  finishedAt: '2026-01-01T00:00:10Z',
  containerID: 'containerd://a',
};
const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container=main' };

const crashLooping = containerStatus('main', {
  state: { waiting },
  lastState: { terminated },
  restartCount: 4,
});

const running = containerStatus('main', {
  state: { running: { startedAt: '2026-01-01T00:01:00Z' } },
  ready: true,
  restartCount: 5,
});

export const podDeleteCases = topic('delete a pod', {
  'with its uid and version: it is terminating, with its own grace period': async (api) => {
    const before = await made(api, api.at(Pod), pod('a', onNode));
    const marked = expectObject(await api.remove(api.at(Pod, 'a'), preconditionsOf(before)));
    expect(marked.kind).toBe('Pod');
    expect(marked.metadata).toMatchObject({ uid: before.metadata.uid, deletionGracePeriodSeconds: 7, generation: 2 });
    expect(Number(marked.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
    expect(expectObject(await api.get(api.at(Pod, 'a')))).toEqual(marked);
    expectObject(await api.remove(api.at(Pod, 'a'), { gracePeriodSeconds: 0 }));
    expectFailure(await api.get(api.at(Pod, 'a')), { code: 404, reason: 'NotFound' });
  },

  'without a node, or if it has ended, it is deleted at once': async (api) => {
    const before = await made(api, api.at(Pod), pod('a', { terminationGracePeriodSeconds: 7 }));
    const removed = expectObject(await api.remove(api.at(Pod, 'a'), preconditionsOf(before)));
    expect(removed.metadata.deletionGracePeriodSeconds).toBe(0);
    await made(api, api.at(Pod), pod('b', onNode));
    await setStatus(api, 'b', { phase: 'Failed' });
    expectObject(await api.remove(api.at(Pod, 'b')));
    for (const name of ['a', 'b']) {
      expectFailure(await api.get(api.at(Pod, name)), { code: 404, reason: 'NotFound' });
    }
  },

  'a version from before its recovery is a Conflict, and it is kept': async (api) => {
    await made(api, api.at(Pod), pod('a', onNode));
    const seen = await setStatus(api, 'a', { phase: 'Running', containerStatuses: [crashLooping] });
    const recovered = await setStatus(api, 'a', { containerStatuses: [running] });
    const reply = await api.remove(api.at(Pod, 'a'), preconditionsOf(seen));
    const { resourceVersion: stale } = seen.metadata;
    const message = `Operation cannot be fulfilled on Pod "a": the ResourceVersion in the precondition (${stale}) does not match the ResourceVersion in record (${recovered.metadata.resourceVersion}). The object might have been modified`;
    expectFailure(reply, { code: 409, reason: 'Conflict', message, details: { name: 'a', kind: 'Pod' } });
    expect(expectObject(await api.get(api.at(Pod, 'a')))).toEqual(recovered);
  },

  'a successor of the same name is a Conflict by the uid, whatever the version': async (api) => {
    const first = await made(api, api.at(Pod), pod('a', onNode));
    expectObject(await api.remove(api.at(Pod, 'a'), { gracePeriodSeconds: 0 }));
    const second = await made(api, api.at(Pod), pod('a', onNode));
    const { uid } = first.metadata;
    const { resourceVersion } = second.metadata;
    for (const preconditions of [{ uid }, { uid, resourceVersion }, preconditionsOf(first).preconditions]) {
      const reply = await api.remove(api.at(Pod, 'a'), { preconditions });
      const message = `the UID in the precondition (${uid}) does not match the UID in record (${second.metadata.uid})`;
      expectFailure(reply, { code: 409, reason: 'Conflict', details: { name: 'a', kind: 'Pod' } });
      expect(reply.json.message).toContain(message);
    }
    expect(expectObject(await api.get(api.at(Pod, 'a')))).toEqual(second);
  },

  'deleted already, it is NotFound, with preconditions too': async (api) => {
    const before = await made(api, api.at(Pod), pod('a'));
    expectObject(await api.remove(api.at(Pod, 'a')));
    expectFailure(await api.remove(api.at(Pod, 'a'), preconditionsOf(before)), {
      code: 404,
      reason: 'NotFound',
      message: 'pods "a" not found',
      details: { name: 'a', kind: 'pods' },
    });
  },

  'terminating already: its present version changes nothing, an earlier one is a Conflict': async (api) => {
    const before = await made(api, api.at(Pod), pod('a', onNode));
    const marked = expectObject(await api.remove(api.at(Pod, 'a'), preconditionsOf(before)));
    expect(expectObject(await api.remove(api.at(Pod, 'a'), preconditionsOf(marked)))).toEqual(marked);
    const reply = await api.remove(api.at(Pod, 'a'), preconditionsOf(before));
    expectFailure(reply, { code: 409, reason: 'Conflict', details: { name: 'a', kind: 'Pod' } });
  },
});

export const podStatusCases = topic('status of a pod', {
  'keeps the container states that its kubelet reports, of all three kinds': async (api) => {
    const before = await made(api, api.at(Pod), pod('a', onNode));
    const status = {
      phase: 'Running',
      initContainerStatuses: [containerStatus('first', { state: { waiting }, lastState: { terminated } })],
      containerStatuses: [crashLooping],
      ephemeralContainerStatuses: [containerStatus('debugger', { state: { running: {} } })],
    };
    const after = await setStatus(api, 'a', status);
    expect(after.status).toMatchObject({ ...status, ephemeralContainerStatuses: [{ name: 'debugger' }] });
    expect(after.metadata.generation).toBe(before.metadata.generation);
    expect(after.spec).toEqual(before.spec);
    expect(expectObject(await api.get(api.at(Pod, 'a')))).toEqual(after);
  },
});

const role = 'gardener.cloud/role';

/** Selects the dependents of an API server: all pods of a control plane except etcd and the API server itself. */
const dependants = `${role} in (controlplane),role notin (apiserver,main)`;

const labelled = (name: string, labels: Readonly<Record<string, string>>): JsonMap =>
  pod(name, onNode, { labels: { [role]: 'controlplane', ...labels } });

export const podWatchCases = topic('watch pods', {
  'sets of labels, over all namespaces, in list and watch alike': async (api) => {
    const other = `${api.namespace}-other`;
    await made(api, '/api/v1/namespaces', { metadata: { name: other } });
    const theirs = api.at(Pod).replace(api.namespace, other);
    const labelSelector = `${dependants},case=${api.namespace}`;
    const make = (path: string, name: string, labels: Readonly<Record<string, string>>): Promise<Json> =>
      made(api, path, labelled(name, { case: api.namespace, ...labels }));
    await make(api.at(Pod), 'a', { role: 'controller-manager' });
    await make(api.at(Pod), 'b', { role: 'apiserver' });
    await make(theirs, 'c', {});
    await make(theirs, 'd', { [role]: 'shoot' });
    const list = await api.get('/api/v1/pods', { labelSelector });
    expect([...namesOf(list)].sort()).toEqual(['a', 'c']);
    const { resourceVersion } = list.json.metadata;
    const watcher = await api.watch('/api/v1/pods', { labelSelector, resourceVersion });
    await make(theirs, 'e', { role: 'main' });
    await make(theirs, 'f', { role: 'scheduler' });
    await setStatus(api, 'b', { containerStatuses: [crashLooping] });
    const looping = await setStatus(api, 'a', { containerStatuses: [crashLooping] });
    const events = await watcher.take(2);
    expect(story(events)).toEqual(['ADDED f', 'MODIFIED a']);
    expect(events[1]?.object).toEqual(looping);
    await watcher.close();
  },

  'a deletion: terminating, then deleted when its kubelet confirms': async (api) => {
    const before = await made(api, api.at(Pod), labelled('a', { role: 'scheduler' }));
    const { resourceVersion } = before.metadata;
    const watcher = await api.watch(api.at(Pod), { labelSelector: dependants, resourceVersion });
    const marked = expectObject(await api.remove(api.at(Pod, 'a'), preconditionsOf(before)));
    await setStatus(api, 'a', { containerStatuses: [running] });
    expectObject(await api.remove(api.at(Pod, 'a'), { gracePeriodSeconds: 0 }));
    const events = await watcher.take(4);
    expect(story(events)).toEqual(['MODIFIED a', 'MODIFIED a', 'MODIFIED a', 'DELETED a']);
    expect(events[0]?.object).toEqual(marked);
    expect(events.map(({ object }) => object.metadata.deletionGracePeriodSeconds)).toEqual([7, 7, 0, 0]);
    await watcher.close();
  },
});
