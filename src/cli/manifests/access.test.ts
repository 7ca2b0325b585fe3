import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { dwd } from '../testing/dwd.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
}

const manifests = async (...flags: readonly string[]) => {
  const { code, stdout, stderr } = await dwd('manifests', ...flags);
  expect(code, stderr).toBe(0);
  return { objects: parseAllDocuments(stdout).map((document) => document.toJS() as Manifest), stderr };
};

const rulesIn = (objects: readonly Manifest[]): readonly (readonly [string, string, string])[] =>
  objects.flatMap(({ kind, metadata: { namespace = '' }, rules = [] }) =>
    rules.map(({ resources, verbs }) => [`${kind} ${namespace}`.trim(), resources.join(), verbs.join()] as const),
  );

it('gives the prober in a shoot a token, and rights to leases and nodes', async () => {
  const { objects, stderr } = await manifests('--component=shoot-access', '--config-file=prober=config.yaml');
  expect(objects.map(({ kind }) => kind)).toEqual([
    'ServiceAccount',
    'Secret',
    'Role',
    'RoleBinding',
    'ClusterRole',
    'ClusterRoleBinding',
  ]);
  expect(rulesIn(objects)).toEqual([
    ['Role kube-node-lease', 'leases', 'list'],
    ['ClusterRole', 'nodes', 'list'],
  ]);
  expect(stderr).toContain('kubectl create secret generic "probe" -n ');
});

it('labels the Secret with the kubeconfig if Secrets are selected by labels, and grants the prober all Secrets', async () => {
  const config = '--config-file=prober=selector.yaml';
  const { stderr } = await manifests('--component=shoot-access', config);
  expect(stderr).toContain('kubectl create secret generic "dependency-watchdog-probe" -n ');
  expect(stderr).toContain('<<END | kubectl label --local -f - -o yaml app=tenant role=admin | kubectl --kubeconfig');
  const { objects } = await manifests('--component=prober', config);
  const secrets = objects.flatMap(({ rules = [] }) => rules.filter(({ resources }) => resources.includes('secrets')));
  expect(secrets).toEqual([{ apiGroups: [''], resources: ['namespaces', 'secrets'], verbs: ['list', 'watch'] }]);
});

it('prints roles for an operator, and how to bind them', async () => {
  const { objects, stderr } = await manifests('--component=operator', '--namespace=here');
  const [wide, home] = objects;
  expect(objects.map(({ kind }) => kind)).toEqual(['ClusterRole', 'Role']);
  expect(rulesIn([home!])).toEqual([
    ['Role here', 'pods', 'get,list,watch'],
    ['Role here', 'configmaps', 'list'],
    ['Role here', 'pods/proxy', 'get'],
    ['Role here', 'leases', 'get'],
  ]);
  // Access to the pods of all namespaces would open every control plane.
  expect(rulesIn([wide!]).filter(([, resources]) => resources.includes('pods'))).toEqual([]);
  expect(stderr).toContain(`--clusterrole=${wide!.metadata.name} `);
  expect(stderr).toContain(`-n here --role=${home!.metadata.name} `);
});
