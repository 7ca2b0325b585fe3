import { expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createScriptedKube } from '../../test/doubles/scripted-kube.ts';
import { meltdownProtectionAnnotation, replicasAnnotation } from '../gardener/scaling-annotations.ts';
import { createKubeClient } from '../kubernetes/client/index.ts';
import { proberConfig } from '../prober/index.ts';
import { refuseDropping } from './installed-settings.ts';

const configOf = (ref: string): string => `kubeConfigSecretName: probe
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, ${ref}}
    scaleUp: {level: 0}
    scaleDown: {level: 0}
`;
const listOf = (...items: readonly object[]) => ({ items, metadata: {} });
const named = (name: string, more: object = {}) => ({
  metadata: { name, namespace: 'garden', uid: name, resourceVersion: '1', ...more },
});
const annotations = { [meltdownProtectionAnnotation]: '', [replicasAnnotation]: '2' };
const answers: Readonly<Record<string, unknown>> = {
  '/apis/apps/v1': { resources: [{ name: 'deployments', kind: 'Deployment', namespaced: true }] },
  '/api/v1': { resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true }] },
  '/apis/apps/v1/namespaces/garden/deployments': listOf(),
  '/api/v1/namespaces/garden/configmaps': listOf({
    ...named('config', { creationTimestamp: '2026-01-01T00:00:00Z' }),
    data: { 'config.yaml': configOf('name: kcm') },
  }),
  '/apis/apps/v1/deployments': listOf({
    ...named('kcm', { namespace: 'shoot--a', annotations }),
    spec: { replicas: 0 },
  }),
};

const refuse = async (ref: string) => {
  const [clock, kube] = [createVirtualClock(), createScriptedKube()];
  const context = {
    ...{ client: createKubeClient({ kube, clock }), clock, deadline: 60_000 },
    ...{ signal: new AbortController().signal, progress: () => undefined },
  };
  const { settings } = proberConfig.load(configOf(ref), { unknownFields: 'error' });
  const refused = refuseDropping(settings!, 'garden', context).then(
    () => undefined,
    (error: unknown) => error,
  );
  const asked: string[] = [];
  await clock.settle();
  while (kube.waiting > 0) {
    const exchange = kube.take();
    const { path } = exchange.request;
    asked.push(path);
    if (path in answers) exchange.respond(200, answers[path]);
    else exchange.respond(404, { kind: 'Status', code: 404 });
    await clock.settle();
  }
  return { asked, error: await refused };
};

const dropped = {
  message: expect.stringContaining('does not name these held resources') as string,
  details: ['Deployment shoot--a/kcm', expect.stringContaining('dwd release') as string],
};

it.each([
  ['another resource', 'name: mcm', dropped],
  ['the resource in another namespace', 'name: kcm, namespace: "{{ namespace }}-cp"', dropped],
  ['the same resource', 'name: kcm', undefined],
])('finds held resources of the installed configuration, if the new one names %s', async (_, ref, expected) => {
  const { asked, error } = await refuse(ref);
  if (expected === undefined) expect(error).toBeUndefined();
  else expect(error).toMatchObject(expected);
  // Resources that both configurations name are not listed.
  expect(asked.includes('/apis/apps/v1/deployments')).toBe(expected !== undefined);
});
