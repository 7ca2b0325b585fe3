import type { KubeObject } from '../../install/index.ts';
import { proberShootGrants } from '../../prober/index.ts';
import type { Grant } from '../../process/rights/index.ts';
import { type Installation, labelsOf, rbacGroup } from './installation.ts';
import { policyRules } from './rights.ts';

/** Name of the ServiceAccount, of its token Secret and of its roles and bindings in the shoot. */
const name = 'dependency-watchdog-probe';
const namespace = 'kube-system';

const rbac = (labels: KubeObject['metadata']['labels'], grants: readonly Grant[]) => {
  const places = [...new Set(grants.map((grant) => grant.namespace))];
  return places.flatMap((place): readonly KubeObject[] => {
    const kind = place === undefined ? 'ClusterRole' : 'Role';
    const metadata = { name, ...(place === undefined ? {} : { namespace: place }), labels: labels ?? {} };
    const rules = policyRules(grants.filter((grant) => grant.namespace === place));
    return [
      { apiVersion: `${rbacGroup}/v1`, kind, metadata, rules },
      {
        apiVersion: `${rbacGroup}/v1`,
        kind: `${kind}Binding`,
        metadata,
        roleRef: { apiGroup: rbacGroup, kind, name },
        subjects: [{ kind: 'ServiceAccount', name, namespace }],
      },
    ];
  });
};

/**
 * Returns the objects that a cluster without Gardener needs for probes: a ServiceAccount with a token and its rights. They are applied in the probed
 * cluster. gardenlet does this for Gardener's shoots.
 */
export const shootAccess = (installation: Installation): readonly KubeObject[] => {
  const labels = labelsOf(installation, 'shoot-access');
  return [
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace, labels },
      automountServiceAccountToken: false,
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace, labels, annotations: { 'kubernetes.io/service-account.name': name } },
      type: 'kubernetes.io/service-account-token',
    },
    ...rbac(labels, proberShootGrants),
  ];
};

/** Returns a shell script that creates the Secret with the kubeconfig in the seed from these objects. */
export const kubeconfigScript = ({ prober: { settings } }: Installation): string => {
  const { key = 'kubeconfig', selector } = settings.clusterSource ?? {};
  // If Secrets are selected by labels, the Secret gets these labels and the name of the ServiceAccount.
  const labels = selector?.replaceAll(',', ' ');
  const labelled = labels === undefined ? '' : ` | kubectl label --local -f - -o yaml ${labels}`;
  const secret = selector === undefined ? settings.kubeConfigSecretName : name;
  return `# SHOOT and SEED are kubeconfigs of the two clusters, NAMESPACE is the shoot's in the seed,
# SERVER is the address at which pods of the seed reach the shoot's API server.
of() { kubectl --kubeconfig "$SHOOT" get secret ${name} -n ${namespace} -o "jsonpath={.data.$1}"; }
: "\${SHOOT:?}" "\${SEED:?}" "\${NAMESPACE:?}" "\${SERVER:?}" && ca=$(of 'ca\\.crt') && token=$(of token | base64 -d) &&
: "\${ca:?is not in the Secret yet: try again}" "\${token:?is not in the Secret yet: try again}" &&
kubectl create secret generic "${secret}" -n "$NAMESPACE" --from-file=${key}=/dev/stdin \\
  --dry-run=client -o yaml <<END${labelled} | kubectl --kubeconfig "$SEED" apply -f -
apiVersion: v1
kind: Config
clusters: [{name: shoot, cluster: {server: "$SERVER", certificate-authority-data: $ca}}]
users: [{name: probe, user: {token: $token}}]
contexts: [{name: shoot, context: {cluster: shoot, user: probe}}]
current-context: shoot
END
`;
};
