import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEnvtest } from '../envtest/gate.ts';
import { getDeployment } from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import {
  type InstalledSeed,
  controlPlane as namespace,
  installedProberConfig,
  startInstalled,
} from './support/installed.ts';
import type { Program } from './support/program.ts';
import { type WebhookMutation, type Webhook, startWebhook } from './support/webhook.ts';

const prefix = 'dependency-watchdog.gardener.cloud';
const kcm = 'kube-controller-manager';
const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/${kcm}`;

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

const image = { spec: { template: { spec: { containers: [{ name: 'main', image: 'evil' }] } } } };
const scaled = {
  metadata: { annotations: { [`${prefix}/meltdown-protection-active`]: '', [`${prefix}/replicas`]: '2' } },
  spec: { replicas: 0 },
};

describeEnvtest('with webhooks that change the resources that the prober scales', () => {
  let installed: InstalledSeed;
  let webhook: Webhook;
  let program: Program;

  /** Applies the policy with these values, in place of the former one. */
  const install = async (policy: object = {}): Promise<void> => {
    for (const kind of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies']) {
      await installed.seed.kubectl(['delete', kind, '--all']);
    }
    await installed.apply(policy);
  };

  /** Sends a patch as the prober, as a dry run. Returns the result. */
  const asProber = async (body: unknown): Promise<string> => {
    const { client } = await installed.identityOf('prober');
    const contentType = 'application/merge-patch+json';
    const reply = await client.request({ method: 'PATCH', path: `${deployment}?dryRun=All`, contentType, body });
    return reply.status < 300 ? 'allowed' : `${String(reply.status)} ${(reply.body as { message: string }).message}`;
  };
  const untilTold = async (body: unknown, pattern: RegExp): Promise<void> => {
    let told = '';
    await waitFor({ what: String(pattern), detail: () => told }, async () => {
      told = await asProber(body);
      return pattern.test(told);
    });
  };

  const untilCount = (replicas: number): Promise<unknown> =>
    waitFor({ what: `${String(replicas)} replicas`, detail: program.output }, async () => {
      const { spec, metadata } = await getDeployment(installed.seed.client, namespace, kcm);
      const isHeld = Object.keys(metadata.annotations ?? {}).includes(`${prefix}/meltdown-protection-active`);
      return spec.replicas === replicas && isHeld === (replicas === 0);
    });

  beforeAll(async () => {
    installed = await startInstalled({
      prober: installedProberConfig,
      weeder: 'servicesAndDependantSelectors: {etcd-main-client: {podSelectors: [{matchLabels: {a: b}}]}}\n',
    });
    const { seed, shoot } = installed;
    const { text } = await shoot.kubeconfigFor({ user: 'probe', groups: ['system:masters'] });
    await seed.client.create(`/api/v1/namespaces/${namespace}/secrets`, {
      metadata: { name: 'shoot-access-prober' },
      stringData: { kubeconfig: text },
    });
    webhook = await startWebhook(seed.client);
    await untilTold(image, /^403/);
    program = await installed.start('prober');
  });
  afterAll(async () => {
    await installed.stop();
    await webhook.stop();
  });

  it('the prober protects and restores if they change the placement of pods, and may not change images', async () => {
    webhook.mutate(placePods);
    installed.kubelets.cut();
    await untilCount(0);
    installed.kubelets.connect();
    await untilCount(2);
    expect(webhook.changes()).toBeGreaterThanOrEqual(2);
    webhook.mutate(undefined);
    expect(await asProber(image)).toMatch(/^403 .*the prober may change nothing of what pods run/s);
    expect(installed.refusedTo('prober').filter((uri) => !uri.includes('dryRun'))).toEqual([]);
  });

  it("the prober is refused if they change the pods' programs, unless the policy only audits", async () => {
    webhook.mutate(changePrograms);
    expect(await asProber(scaled)).toMatch(/^403 .*the prober may change nothing of what pods run/s);
    await install({ proberActions: ['Audit'] });
    await untilTold(scaled, /^allowed/);
    expect(await asProber(image)).toBe('allowed');
  });

  it("the prober may scale if they change the pods' programs and the policy judges before them", async () => {
    await install({ beforeWebhooks: true });
    webhook.mutate(changePrograms);
    await untilTold(image, /^403 .*the prober may change nothing but spec.replicas/s);
    expect(await asProber(scaled)).toBe('allowed');
    const ofPods = { tolerations: [{ operator: 'Exists' }] };
    for (const [body, reason] of [
      [{ metadata: { labels: { a: 'b' } } }, /^403 .*may change nothing in the metadata/s],
      [{ metadata: { finalizers: ['example.org/stay'] } }, /^403 .*may change nothing in the metadata/s],
      [{ metadata: { annotations: { a: 'b' } } }, /^403 .*may change no annotations but/s],
      [{ spec: { paused: true } }, /^403 .*may change nothing but spec.replicas/s],
      [{ spec: { template: { spec: ofPods } } }, /^403 .*may change nothing but spec.replicas/s],
    ] as const) {
      expect(await asProber(body)).toMatch(reason);
    }
    const kinds = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
    expect(await installed.seed.client.list(kinds)).toHaveLength(1);
  });
});
