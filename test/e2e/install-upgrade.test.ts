import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { describeEnvtest } from '../envtest/gate.ts';
import { waitFor } from '../envtest/waiting.ts';
import { startProgram } from './support/program.ts';
import {
  type SeedWithShoot,
  kcm,
  mcm,
  quickProberConfig,
  shootNamespace,
  startSeedWithShoot,
} from './support/seed-with-shoot.ts';

const image = 'registry.example/dependency-watchdog:1.0.0';
const clusterRole = 'dependency-watchdog.gardener.cloud:garden:dwd-prober';
const policyName = 'dwd-prober.garden.dependency-watchdog.gardener.cloud';
const gardenlets = 'dependency-watchdog-prober';

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules: readonly unknown[];
}

describeEnvtest('an installation in a seed that has one already', () => {
  let world: SeedWithShoot;

  beforeAll(async () => {
    world = await startSeedWithShoot('upgrade');
    await world.seed.kubectl(['create', 'namespace', 'garden']);
  });

  afterAll(() => world.stop());

  const read = async <T>(...args: readonly string[]): Promise<T> =>
    JSON.parse(await world.seed.kubectl(['get', ...args, '-o', 'json'])) as T;
  const names = async (kind: string, namespace: string): Promise<readonly string[]> =>
    (await world.seed.kubectl(['get', kind, '-n', namespace, '-o', 'name'])).split('\n').filter(Boolean);
  const expectInstalled = async (...more: readonly string[]): Promise<string> => {
    const { code, text } = await world.install(image, ...more);
    expect(code, text).toBe(0);
    return text;
  };
  const expectRemoved = async (...more: readonly string[]): Promise<string> => {
    const { code, text } = await world.dwd('uninstall', ...more);
    expect(code, text).toBe(0);
    return text;
  };

  it('keeps the rights of the former version until its pods are replaced', async () => {
    await expectInstalled();
    const narrower = world.configFile('5s', [kcm]);
    const failed = await world.install('registry.example/missing:2.0.0', `--config-file=${narrower}`, '--timeout=6s');
    expect(failed.text).toContain('not ready in time');
    expect(failed.code).toBe(1);
    world.kubelets.cut();
    await world.untilCounts(0, 0);
    world.kubelets.connect();
    await world.untilCounts(2, 3);

    await expectInstalled(`--config-file=${narrower}`);
    const manifests = startProgram(['manifests', '--component=prober', `--config-file=${narrower}`]);
    await manifests.ended;
    const printed = parseAllDocuments(manifests.stdout()).map((document) => document.toJS() as Role);
    const { rules } = await read<Role>('clusterrole', clusterRole);
    expect(JSON.stringify(rules)).not.toContain(mcm);
    expect(rules).toEqual(
      printed.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === clusterRole)?.rules,
    );
    const again = await world.install(image, `--config-file=${narrower}`);
    expect(again.text).toMatch(/nothing to change: \d+ unchanged\n$/);
    await expectInstalled();
  });

  it('upgrades an installed policy and keeps its settings', async () => {
    const file = join(world.directory, 'stateful.yaml');
    const [deployment, stateful] = [mcm, 'etcd'].map(
      (name, index) => `kind: ${['Deployment', 'StatefulSet'][index] ?? ''}, name: ${name}`,
    );
    writeFileSync(file, quickProberConfig('5s').replace(deployment ?? '', stateful ?? ''));
    await expectInstalled('--component=prober,policy', '--set=policy.proberActions=Audit');
    const policies = () => names('validatingadmissionpolicies', 'garden');
    const before = await policies();
    const text = await expectInstalled(`--config-file=${file}`);
    expect(text).toContain(`ValidatingAdmissionPolicy ${policyName}: configured\n`);
    const { spec } = await read<{
      readonly spec: {
        readonly matchConstraints: { readonly resourceRules: readonly { readonly resources: unknown }[] };
      };
    }>('validatingadmissionpolicy', policyName);
    expect(spec.matchConstraints.resourceRules.map(({ resources }) => resources)).toEqual([
      ['deployments', 'statefulsets'],
    ]);
    // An upgrade without the setting keeps the earlier choice.
    const binding = await read<{ readonly spec: object }>('validatingadmissionpolicybinding', policyName);
    expect(binding.spec).toMatchObject({ validationActions: ['Audit'] });
    expect(await policies()).toEqual(before);
    expect(before).toHaveLength(2);
    const renamed = await world.install(image, '--name-prefix=guard-');
    expect(renamed.text).toContain('the installed admission policies are not those that these flags describe\n');
    expect(renamed.code).toBe(1);
    await expectRemoved('--component=policy');
    await expectInstalled();
  });

  it('adds a second prober in another namespace only on request, and restores nothing when that one is removed', async () => {
    const there = ['--namespace=watch', '--create-namespace'];
    const refused = await world.install(image, ...there);
    expect(refused.text).toMatch(
      /another prober is active in this cluster.*\nLease garden\/dwd-prober-leader-election is renewed by dwd-prober-/,
    );
    expect(refused.code).toBe(1);
    expect(await world.seed.kubectl(['get', 'namespaces', '-o', 'name'])).not.toContain('watch');
    await expectInstalled(...there, '--beside-other-prober');
    world.kubelets.cut();
    await world.untilCounts(0, 0);
    const at = Date.now();
    const hasty = await world.dwd('uninstall', '--namespace=watch');
    expect(hasty.text).toMatch(
      /another prober is active; nothing was removed\nDeployment .* is held at 0\n(?:.*\n)*Lease garden\/dwd-prober-leader-election is renewed by dwd-prober-/,
    );
    expect([hasty.code, await names('deployments', 'watch')]).toEqual([1, ['deployment.apps/dwd-prober']]);
    const forced = await expectRemoved('--namespace=watch', '--force');
    expect(forced).toContain(`LEFT: Deployment ${shootNamespace}/${mcm} is held at 0\n`);
    expect(forced).toContain(
      'nothing is restored, because another prober is active: Lease garden/dwd-prober-leader-election',
    );
    expect(world.countsSince(at)).toEqual([]);
    expect([await names('deployments', 'watch'), await names('deployments', 'garden')]).toEqual([
      [],
      ['deployment.apps/dwd-prober'],
    ]);
  });

  it('leaves held resources to another prober that waits for the same Lease', async () => {
    const command = ['/dwd', 'prober', '--config-file=/config.yaml'];
    const containers = [{ name: 'main', image: 'another', command: [...command, '--dry-run'] }];
    const labels = { app: gardenlets };
    await world.seed.client.create('/apis/apps/v1/namespaces/garden/deployments', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: gardenlets },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    });
    const untilAvailable = () =>
      waitFor({ what: `${gardenlets} is available`, withinMs: 60_000 }, async () => {
        const { metadata, status } = await read<{
          readonly metadata: { readonly generation: number };
          readonly status?: { readonly observedGeneration?: number; readonly availableReplicas?: number };
        }>('deployment', gardenlets, '-n', 'garden');
        return status?.observedGeneration === metadata.generation ? status.availableReplicas : undefined;
      });
    await untilAvailable();
    // A prober in dry run restores nothing, so the removal must.
    expect((await world.dwd('uninstall', '--dry-run')).text).toContain(`${mcm}: would be restored\n`);
    const patch = [{ op: 'replace', path: '/spec/template/spec/containers/0/command', value: command }];
    const patching = ['--type=json', `--patch=${JSON.stringify(patch)}`];
    await world.seed.kubectl(['patch', 'deployment', gardenlets, '-n', 'garden', ...patching]);
    await untilAvailable();
    const at = Date.now();
    const shown = await world.dwd('uninstall', '--dry-run');
    expect((await world.dwd('uninstall')).code).toBe(1);
    expect(await expectRemoved('--force')).toContain(
      `nothing is restored, because another prober is active: Deployment garden/${gardenlets} runs a prober\n`,
    );
    expect(shown.text).not.toContain('would be restored');
    expect(world.countsSince(at)).toEqual([]);
    expect(await names('deployments', 'garden')).toEqual([`deployment.apps/${gardenlets}`]);

    await expectInstalled();
    await world.seed.kubectl(['delete', 'deployment', gardenlets, '-n', 'garden']);
    expect(await expectRemoved()).toContain(`${mcm}: restored\n`);
    await world.untilCounts(2, 3);
  });

  it('does not mistake a removal by hand, which leaves resources at 0, for an empty cluster', async () => {
    await expectInstalled();
    world.kubelets.cut();
    await world.untilCounts(0, 0);
    const kinds = 'deployments,configmaps,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings';
    const ofInstallation = ['-n', 'garden', '-l', 'dependency-watchdog.gardener.cloud/installation=garden'];
    await world.seed.kubectl(['delete', `${kinds},poddisruptionbudgets,services,networkpolicies`, ...ofInstallation]);
    const refused = await world.dwd('uninstall');
    expect(refused.text).toContain('no prober was found that would restore them');
    expect(refused.text).toContain(`Deployment ${shootNamespace}/${kcm} is held at 0\n`);
    expect(refused.code).toBe(1);
    await expectInstalled();
    expect(await expectRemoved()).toContain(`${mcm}: restored\n`);
    await world.untilCounts(2, 3);
  });

  it('reports that nothing protects the shoots after an interrupted removal, and continues the next time', async () => {
    await expectInstalled();
    const metadata = { name: 'keep-config-maps' };
    const apiVersion = 'admissionregistration.k8s.io/v1';
    const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['DELETE'] };
    await world.seed.client.create(`/apis/${apiVersion}/validatingadmissionpolicies`, {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: 'false', message: 'config maps are kept' }],
      },
    });
    const bindings = `/apis/${apiVersion}/validatingadmissionpolicybindings`;
    await world.seed.client.create(bindings, {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: metadata.name, validationActions: ['Deny'] },
    });
    const [configMap = ''] = await names('configmaps', 'garden');
    const remove = () =>
      world.seed.kubectl(['delete', configMap, '-n', 'garden', '--dry-run=server']).then(
        () => undefined,
        (error: unknown) => String(error),
      );
    await waitFor({ what: 'the policy is in force', withinMs: 30_000, everyMs: 500 }, remove);
    const failed = await world.dwd('uninstall');
    expect(failed.text).toMatch(
      /the removal was not finished; the prober no longer runs, and no shoot is protected\n.*config maps are kept/,
    );
    expect(failed.text).toContain('run dwd uninstall again, or dwd install to restore the protection\n');
    expect([failed.code, await names('deployments', 'garden')]).toEqual([1, []]);
    await world.seed.client.delete(`${bindings}/${metadata.name}`);
    await waitFor(
      { what: 'the policy is gone', withinMs: 30_000, everyMs: 500 },
      async () => (await remove()) === undefined,
    );
    expect(await expectRemoved()).toContain('ConfigMap garden/dwd-prober-config-');
  });
});
