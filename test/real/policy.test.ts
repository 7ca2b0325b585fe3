import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseLabelSelector } from '../../simulator/apiserver/index.ts';
import { formatLabelSelector } from '../../src/kubernetes/api/label-selectors.ts';
import { weederConfig } from '../../src/weeder/config.ts';
import type { ApiReply, TestClient } from '../envtest/client.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { getDeployment } from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import {
  type InstalledSeed,
  controlPlane as namespace,
  installedProberConfig,
  startInstalled,
} from './support/installed.ts';
import { type Mill, millPath } from './support/mill.ts';
import { createPod, listPods, setCrashing, setEndpoints } from './support/pods.ts';

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));
/** The commands in the comment of the file. */
const commands = Array.from(
  readFileSync(`${deploy}shoot-access.yaml`, 'utf8').matchAll(/^# {3}(.*)$/gm),
  ([, line = '']) => line,
);
const prefix = 'dependency-watchdog.gardener.cloud';
const kcm = 'kube-controller-manager';
const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/${kcm}`;
const mill = millPath(namespace);

const proberConfig = `${installedProberConfig}
  - ref: {apiVersion: test.dependency-watchdog.gardener.cloud/v1, kind: Watermill, name: mill}
    scaleUp: {level: 1, timeout: 20s}
    scaleDown: {level: 1, timeout: 20s}
`;

const weederText = `watchDuration: 1m
servicesAndDependantSelectors:
  etcd-main-client:
    podSelectors:
      - matchLabels: {role: apiserver}
        matchExpressions: [{key: tier, operator: NotIn, values: [test, lab]}]
  kube-apiserver:
    podSelectors:
      - matchExpressions:
          - {key: role, operator: Exists}
          - {key: tier, operator: In, values: [front, back]}
      - matchExpressions:
          - {key: gardener.cloud/role, operator: DoesNotExist}
          - {key: tier, operator: Exists}
          - {key: role, operator: NotIn, values: [apiserver, main]}
`;

/** Sends a patch as a dry run, which passes through all admission. */
const patch = async (client: TestClient, path: string, body: unknown): Promise<string> => {
  const contentType = 'application/merge-patch+json';
  return messageOf(await client.request({ method: 'PATCH', path: `${path}?dryRun=All`, contentType, body }));
};
const messageOf = ({ status, body }: ApiReply): string =>
  status < 300
    ? 'allowed'
    : `${String(status)} ${(body as { message: string }).message.replace(/^.*denied request: /s, '')}`;

describeEnvtest('with the rights and the policies of the chart', () => {
  let installed: InstalledSeed;
  /** Runs a script, with the kubeconfigs of seed and shoot. */
  const run = (script: string, variables: Readonly<Record<string, string>>) => {
    const { seed, shoot, directory } = installed;
    const path = `${dirname(seed.binaries.path('kubectl'))}:${process.env.PATH ?? ''}`;
    const clusters = { SHOOT: shoot.admin.kubeconfig.file, SEED: seed.admin.kubeconfig.file };
    const env = { PATH: path, HOME: directory, KUBECONFIG: clusters.SEED, ...clusters, ...variables };
    return spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', script], { env, cwd: deploy, encoding: 'utf8' });
  };

  beforeAll(async () => {
    installed = await startInstalled({ prober: proberConfig, weeder: weederText });
  });
  afterAll(() => installed.stop());

  it('the API server finds no errors in the policies', async () => {
    const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
    const checked = await waitFor({ what: 'the check of types' }, async () => {
      const policies = await installed.seed.client.list<{ status?: { typeChecking?: object } }>(path);
      const checks = policies.flatMap(({ status }) => status?.typeChecking ?? []);
      return checks.length === 2 ? checks : undefined;
    });
    expect(checked).toEqual([{}, {}]);
  });

  it('a shoot is reached with deploy/shoot-access.yaml and the commands in it', async () => {
    const { shoot } = installed;
    const [apply = '', ...create] = commands;
    expect(run(apply, {})).toMatchObject({ status: 0, stderr: '' });
    await waitFor({ what: 'the token' }, async () => {
      const secret = '/api/v1/namespaces/kube-system/secrets/dependency-watchdog-probe';
      return (await shoot.client.get<{ data?: { token?: string } }>(secret)).data?.token;
    });
    const script = create.join('\n').replace('shoot-access-dependency-watchdog-probe', 'shoot-access-prober');
    const made = run(script, { NAMESPACE: namespace, SERVER: shoot.url });
    expect(made).toMatchObject({ status: 0, stderr: '', stdout: 'secret/shoot-access-prober created\n' });
  });

  it('the prober protects and restores, and no request is refused', async () => {
    const program = await installed.start('prober');
    const untilCounts = (expected: string): Promise<unknown> =>
      waitFor({ what: expected, detail: program.output }, async () => {
        const { spec, metadata } = await getDeployment(installed.seed.client, namespace, kcm);
        const wheel = (await installed.seed.client.get<Mill>(mill)).spec.wheel.count;
        const marked = Object.keys(metadata.annotations ?? {}).some((key) => key.startsWith(prefix));
        return `${String(spec.replicas)} ${String(wheel)}${marked ? ' held' : ''}` === expected;
      });
    installed.kubelets.cut();
    await untilCounts('0 0 held');
    installed.kubelets.connect();
    await untilCounts('2 4');
    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
    expect(installed.refusedTo('prober')).toEqual([]);
    const events = await installed.seed.kubectl(['get', 'events', '-n', namespace]);
    expect(events).toContain('MeltdownProtection');
  });

  const held = {
    metadata: { annotations: { [`${prefix}/meltdown-protection-active`]: '', [`${prefix}/replicas`]: '2' } },
  };
  const ofPods = (pod: object) => ({ spec: { template: { spec: pod } } });
  const image = ofPods({ containers: [{ name: 'main', image: 'evil' }] });
  const spec = '403 the prober may change nothing but spec.replicas, or the count of the scale subresource';
  const template = '403 the prober may change nothing of what pods run';
  const pods = '403 the prober may change nothing in the metadata of pods';
  const metadata = '403 the prober may change nothing in the metadata but its own annotations';
  const annotations = '403 the prober may change no annotations but its own';
  const rollBack = { metadata: { annotations: { 'deprecated.deployment.rollback.to': '1' } } };
  const requests: readonly (readonly [string, string, object, string])[] = [
    ['a scale-down', deployment, { ...held, spec: { replicas: 0 } }, 'allowed'],
    [
      'the annotation since when it is held',
      deployment,
      { metadata: { annotations: { [`${prefix}/held`]: '{}' } } },
      'allowed',
    ],
    ['another image', deployment, image, template],
    ['another image with a scale-down', deployment, { ...held, spec: { replicas: 0, ...image.spec } }, template],
    ['a pause of its roll-out', deployment, { spec: { paused: true } }, spec],
    ['another service account', deployment, ofPods({ serviceAccountName: 'admin' }), template],
    ['the network of the node', deployment, ofPods({ hostNetwork: true }), template],
    ['labels of pods', deployment, { spec: { template: { metadata: { labels: { a: 'b' } } } } }, pods],
    ['annotations of pods', deployment, { spec: { template: { metadata: { annotations: { a: 'b' } } } } }, pods],
    ['other nodes for pods', deployment, ofPods({ tolerations: [{ operator: 'Exists' }] }), 'allowed'],
    ['a finalizer', deployment, { metadata: { finalizers: ['example.org/stay'] } }, metadata],
    ['labels', deployment, { metadata: { labels: { app: 'other' } } }, metadata],
    ['an annotation', deployment, { metadata: { annotations: { 'example.org/a': 'b' } } }, annotations],
    ['the removal of an annotation of others', deployment, { metadata: { annotations: { owner: null } } }, annotations],
    // This is refused because the deployment controller would roll back.
    ['a rollback to an older image', deployment, rollBack, annotations],
    ['a rollback to an older image with a scale-down', deployment, { ...rollBack, spec: { replicas: 0 } }, annotations],
    ['an annotation of another kind', mill, { metadata: { annotations: { 'example.org/a': 'b' } } }, annotations],
    ['marks on another kind', mill, held, 'allowed'],
    ['the count of another kind through its scale', `${mill}/scale`, { spec: { replicas: 0 } }, 'allowed'],
    ['the count of another kind in its spec', mill, { spec: { wheel: { count: 0 } } }, spec],
    ['another field of another kind', mill, { spec: { stones: 3 } }, spec],
    [
      'a field beside its spec',
      mill,
      { extra: 'field' },
      '403 the prober may change nothing but the number of replicas',
    ],
  ];
  it.each(requests)('a patch of the prober: %s', async (_, path, body, expected) => {
    const answer = await patch((await installed.identityOf('prober')).client, path, body);
    expect(answer.startsWith(expected) ? expected : answer).toBe(expected);
    // The policy restricts no other user.
    expect(await patch(installed.seed.client, path, body)).toBe('allowed');
  });

  it('the weeder weeds, and no request is refused', async () => {
    const labels = { role: 'apiserver' };
    const pod = { namespace, name: 'crashing', labels, owner: 'crashing' };
    await createPod(installed.seed.client, pod);
    await setCrashing(installed.seed.client, pod, ['main']);
    await installed.start('weeder');
    await setEndpoints(installed.seed.client, { namespace, service: 'etcd-main-client', ready: [true] });
    await waitFor({ what: 'the pod to be deleted' }, async () => {
      const pods = await listPods(installed.seed.client, namespace);
      return pods.some(({ metadata: { deletionTimestamp } }) => deletionTimestamp !== undefined);
    });
    const events = await waitFor({ what: 'its Event' }, async () => {
      const text = await installed.seed.kubectl(['get', 'events', '-n', namespace]);
      return text.includes('pod/crashing') ? text : undefined;
    });
    expect(events).toContain('DependencyReady');
    expect(installed.refusedTo('weeder')).toEqual([]);
  });

  it('the weeder may only delete crash-looping pods that its selectors match', async () => {
    const { client } = await installed.identityOf('weeder');
    const { settings } = weederConfig.load(weederText, { unknownFields: 'error' });
    const selectors = settings?.services.flatMap(({ podSelectors }) => podSelectors) ?? [];
    const among = (key: string, ...values: readonly string[]) => [{}, ...values.map((value) => ({ [key]: value }))];
    const all = among('role', 'apiserver', 'main', 'x').flatMap((role) =>
      among('tier', 'front', 'lab').flatMap((tier) =>
        among('gardener.cloud/role', 'controlplane').map((other) => ({ ...role, ...tier, ...other })),
      ),
    );
    const remove = async (name: string): Promise<string> =>
      messageOf(
        await client.request({ method: 'DELETE', path: `/api/v1/namespaces/all-labels/pods/${name}?dryRun=All` }),
      );
    await installed.seed.client.create('/api/v1/namespaces', { metadata: { name: 'all-labels' } });
    for (const [index, labels] of all.entries()) {
      const pod = { namespace: 'all-labels', name: `pod-${String(index)}`, labels, owner: 'all' };
      const isMatched = selectors.some((selector) => parseLabelSelector(formatLabelSelector(selector))(labels));
      const refusal = isMatched
        ? '403 the weeder may delete only pods with a container that waits in CrashLoopBackOff'
        : '403 the weeder may delete only pods that a selector of its configuration matches';
      await createPod(installed.seed.client, pod);
      expect(await remove(pod.name), JSON.stringify(labels)).toBe(refusal);
      await setCrashing(installed.seed.client, pod, ['main']);
      expect(await remove(pod.name), JSON.stringify(labels)).toBe(isMatched ? 'allowed' : refusal);
    }
  });

  describe('that judge before webhooks', () => {
    beforeAll(async () => {
      for (const kind of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies']) {
        await installed.seed.kubectl(['delete', kind, '--all']);
      }
      await installed.apply({ beforeWebhooks: true });
      const { client } = await installed.identityOf('prober');
      await waitFor({ what: 'the policy' }, async () => {
        const answer = await patch(client, mill, { spec: { stones: 3 } });
        return answer.includes('JSON Patch');
      });
    });

    it.each(requests.filter(([, path]) => path.startsWith(mill)))(
      'a patch of the prober: %s',
      async (_, path, body, expected) => {
        const answer = await patch((await installed.identityOf('prober')).client, path, body);
        const [status = '', ...words] = expected.split(' ');
        expect(answer.slice(0, status.length)).toBe(status);
        expect(answer).toContain(words.join(' '));
        expect(await patch(installed.seed.client, path, body)).toBe('allowed');
      },
    );
  });
});
