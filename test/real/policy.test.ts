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
import { waitFor } from '../envtest/waiting.ts';
import { type InstalledSeed, startInstalled } from './support/installed.ts';
import { millPath } from './support/mill.ts';
import { createPod, listPods, setCrashing, setEndpoints } from './support/pods.ts';
import { kcm, prefix, quickConfig, shootNamespace as namespace } from './support/prober-world.ts';
import { type Webhook, type WebhookMutation, startWebhook } from './support/webhook.ts';

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));
/** The commands in the comment of the file. */
const commands = Array.from(
  readFileSync(`${deploy}shoot-access.yaml`, 'utf8').matchAll(/^# {3}(.*)$/gm),
  ([, line = '']) => line,
);
const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/${kcm}`;
const mill = millPath(namespace);

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

/** Changes the fields that high-availability-config of gardener-resource-manager writes, at each call to another value. */
const placePods: WebhookMutation = (object, call) => {
  const { template } = object.spec;
  const term = {
    matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: [`z-${String(call)}`] }],
  };
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } };
  const topologySpreadConstraints = [
    {
      ...{ maxSkew: call, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
      labelSelector: { matchLabels: { app: kcm } },
    },
  ];
  const tolerations = [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: call },
  ];
  const pod = { ...template.spec, affinity: { nodeAffinity }, tolerations, topologySpreadConstraints };
  return {
    ...object,
    spec: { ...object.spec, template: { ...template, spec: pod } },
  };
};

/** Changes the fields that provider extensions write: flags of the program, and a sidecar with their image, at each call to another value. */
const changePrograms: WebhookMutation = (object, call) => {
  const { template } = object.spec;
  const containers = [
    {
      ...template.spec.containers[0],
      command: ['kube-controller-manager', `--feature-gates=Call${String(call)}=true`],
    },
    { name: 'sidecar', image: `registry.example/provider:v${String(call)}` },
  ];
  const pod = { ...template.spec, containers };
  return { ...object, spec: { ...object.spec, template: { ...template, spec: pod } } };
};

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
  let webhook: Webhook;
  /** Runs a script, with the kubeconfigs of seed and shoot. */
  const run = (script: string, variables: Readonly<Record<string, string>>) => {
    const { seed, shoot, directory } = installed;
    const path = `${dirname(seed.binaries.path('kubectl'))}:${process.env.PATH ?? ''}`;
    const clusters = { SHOOT: shoot.admin.kubeconfig.file, SEED: seed.admin.kubeconfig.file };
    const env = { PATH: path, HOME: directory, KUBECONFIG: clusters.SEED, ...clusters, ...variables };
    return spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', script], { env, cwd: deploy, encoding: 'utf8' });
  };

  beforeAll(async () => {
    installed = await startInstalled({
      prober: quickConfig([kcm, 'mill'], { initialDelay: '1s' }),
      weeder: weederText,
    });
    await installed.seed.kubectl(['annotate', 'deployment', '-n', namespace, kcm, 'owner=gardenlet']);
    webhook = await startWebhook(installed.seed.client);
  });
  afterAll(async () => {
    await installed.stop();
    await webhook.stop();
  });

  /** Sends a patch of the Deployment as the prober, as a dry run. */
  const asProber = async (body: unknown): Promise<string> =>
    patch((await installed.identityOf('prober')).client, deployment, body);
  const untilTold = (body: unknown, pattern: RegExp): Promise<unknown> =>
    installed.until(String(pattern), async () => pattern.test(await asProber(body)));

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

  it('the prober protects and restores while a webhook changes the placement of pods, and no request is refused', async () => {
    webhook.mutate(placePods);
    const program = await installed.startComponent('prober');
    installed.kubelets.cut();
    await installed.untilCounts({ [kcm]: 0, mill: 0 });
    expect([await installed.marksOf(kcm), await installed.marksOf('mill')]).toMatchObject([held, held]);
    installed.kubelets.connect();
    await installed.untilCounts({ [kcm]: 2, mill: 4 });
    await installed.until('no marks', async () => Object.keys(await installed.marksOf('mill')).length === 0);
    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
    expect(installed.refusedTo('prober')).toEqual([]);
    expect(webhook.changes()).toBeGreaterThanOrEqual(2);
    webhook.mutate(undefined);
    const events = await installed.seed.kubectl(['get', 'events', '-n', namespace]);
    expect(events).toContain('MeltdownProtection');
  });

  const held = { 'meltdown-protection-active': '' };
  const marks = {
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
    ['a scale-down', deployment, { ...marks, spec: { replicas: 0 } }, 'allowed'],
    [
      'the annotation since when it is held',
      deployment,
      { metadata: { annotations: { [`${prefix}/held`]: '{}' } } },
      'allowed',
    ],
    ['another image', deployment, image, template],
    ['another image with a scale-down', deployment, { ...marks, spec: { replicas: 0, ...image.spec } }, template],
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
    ['marks on another kind', mill, marks, 'allowed'],
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
    const pod = { namespace, name: 'crashing', labels };
    await createPod(installed.seed.client, pod);
    await setCrashing(installed.seed.client, pod, ['main']);
    await installed.startComponent('weeder');
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
      const pod = { namespace: 'all-labels', name: `pod-${String(index)}`, labels };
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

  const scaled = { ...marks, spec: { replicas: 0 } };

  it("the prober is refused if webhooks change the pods' programs, unless the policy only audits", async () => {
    webhook.mutate(changePrograms);
    expect(await asProber(scaled)).toContain(template);
    await installed.apply({ proberActions: ['Audit'] });
    await untilTold(scaled, /^allowed/);
    expect(await asProber(image)).toBe('allowed');
  });

  describe('that judge before webhooks', () => {
    beforeAll(async () => {
      await installed.apply({ beforeWebhooks: true });
      await untilTold(image, /^403 .*the prober may change nothing but spec.replicas/s);
    });

    it("the prober may scale if webhooks change the pods' programs, and nothing else of a Deployment", async () => {
      webhook.mutate(changePrograms);
      expect(await asProber(scaled)).toBe('allowed');
      webhook.mutate(undefined);
      for (const [body, reason] of [
        [{ metadata: { labels: { a: 'b' } } }, /^403 .*may change nothing in the metadata/s],
        [{ metadata: { finalizers: ['example.org/stay'] } }, /^403 .*may change nothing in the metadata/s],
        [{ metadata: { annotations: { a: 'b' } } }, /^403 .*may change no annotations but/s],
        [{ spec: { paused: true } }, /^403 .*may change nothing but spec.replicas/s],
        [ofPods({ tolerations: [{ operator: 'Exists' }] }), /^403 .*may change nothing but spec.replicas/s],
      ] as const) {
        expect(await asProber(body)).toMatch(reason);
      }
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
