import { expect, it } from 'vitest';
import { careConfig } from '../src/care/config.ts';
import { careGardenGrants, careGrants, careShootGrants } from '../src/care/rights.ts';
import { guessResource } from '../src/cli/manifests/rights.ts';
import { operatorGrants, operatorHomeGrants } from '../src/install/operator-rights.ts';
import { writtenAnnotations } from '../src/gardener/scaling-annotations.ts';
import { proberConfig } from '../src/prober/config.ts';
import { proberGrants, proberShootGrants } from '../src/prober/rights.ts';
import { type Grant, leaseGrants } from '../src/process/rights/grants.ts';
import { weederGrants } from '../src/weeder/rights.ts';

const settingsOf = <T>({ settings }: { readonly settings?: T }): T => settings ?? expect.unreachable('not valid');
const options = { unknownFields: 'error' } as const;
const prober = settingsOf(proberConfig.load(proberConfig.defaultText, options));
const care = settingsOf(careConfig.load(careConfig.defaultText, options));

const quoted = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

const row = ({ group, resource, namespace, names, verbs, purpose }: Grant): string => {
  const kind = `\`${resource}${group === '' ? '' : `.${group}`}\``;
  const where = namespace === undefined ? kind : `${kind} in \`${namespace}\``;
  return `| ${where} | ${names === undefined ? '' : quoted(names)} | ${verbs.join(', ')} | ${purpose} |`;
};

const table = (grants: readonly Grant[]): string =>
  ['| what | names | verbs | what for |', '| --- | --- | --- | --- |', ...grants.map(row)].join('\n');

const leases = (component: string): string => table(leaseGrants(`dwd-${component}-leader-election`, 'garden'));

const plural = ({ kind }: { readonly kind: string }): string => guessResource(kind);

const allLeases = ['prober', 'weeder', 'care'].map((component) => `dwd-${component}-leader-election`);

const page = `# Rights

What each component may do, and why. [SECURITY.md](../SECURITY.md) says what an attacker could do with it. One list per component makes this page, the roles of \`dwd manifests\`, and the program's own check
(SelfSubjectAccessReview, at the start and every hour). \`test/e2e/least-privilege.test.ts\` and \`test/e2e/least-privilege-care.test.ts\` remove each right in turn on a real API server.

The log names a missing right (\`a right is missing: grant it\`), and \`dwd_missing_rights\` and \`dwd_missing_garden_rights\` count them. Without the right to Events, the program records none and logs one
line. It watches Secrets, Leases and dependent resources by name, so that rights can name them.

## Prober

In the seed, with the configuration that Gardener generates; other kinds and names follow from yours:

${table(proberGrants(prober, plural))}

A dependent resource of another kind than Deployment, StatefulSet and ReplicaSet is scaled through its \`/scale\`, which takes \`get\` and \`patch\` as well. Without
the rights to the Deployment \`kube-apiserver\` (\`apiServerRef\`), an API server out of reach is taken to be down.

With leader election, in the namespace where the prober runs:

${leases('prober')}

In each shoot (\`GET /version\` is for everybody who is known to the API server, by the ClusterRole \`system:public-info-viewer\`):

${table(proberShootGrants)}

gardenlet grants the shoots of Gardener this much and \`get\`. In any other shoot, what \`dwd manifests --component shoot-access\` prints does: a ServiceAccount with a
token, and these roles, to be applied in the shoot. On stderr it prints the commands that make the Secret with the kubeconfig out of the token.

## Weeder

In the seed:

${table(weederGrants)}

With leader election, in the namespace where the weeder runs:

${leases('weeder')}

## Care

In the seed, where it only reads; of the kinds of extensions, those that the seed does not serve count as none:

${table(careGrants(care))}

With leader election, in the namespace where care runs:

${leases('care')}

In the garden, with \`--garden-kubeconfig\`:

${table(careGardenGrants)}

In each shoot (\`GET /healthz\` is for everybody, as \`/version\` is):

${table(careShootGrants)}

## Operator

\`dwd manifests --component operator\` prints two roles for who is to see and to steer the prober, and on stderr the commands that bind somebody to them. In
the seed:

${table(operatorGrants(prober, plural))}

In the namespace where the prober runs. These reach into pods: in all namespaces they would be a way into every control plane.

${table(operatorHomeGrants(allLeases, 'garden'))}

The prober itself does not get \`pods/proxy\`: it would reach every pod of its namespace, and all that it is for is the page of a standby, which says that it shows its own view and which pod leads
([page](page.md#how-current-the-page-is)).

## Rights that roles cannot limit

Whoever has the right to patch a Deployment can replace its image, and whoever has the right to delete pods can delete all of them.
\`dwd manifests --component policy\` prints admission policies (Kubernetes 1.30 or later) for the ServiceAccounts of prober and
weeder, so that a stolen token is good for no more than the program does:

- The prober changes \`spec.replicas\` of Deployments, StatefulSets and ReplicaSets, of other kinds the count of their \`/scale\`, and of all of them its own annotations:
  ${quoted(writtenAnnotations)}. After webhooks (below), what says where pods run (\`affinity\`, \`tolerations\`, \`topologySpreadConstraints\`) is
  free as well. A request that changes anything else is refused: images, commands, variables, volumes, the ServiceAccount, labels and annotations of pods, and
  those of the Deployment, too: with the annotation \`deprecated.deployment.rollback.to\` the controller of Deployments brings back an older image.
- The weeder deletes pods that a selector of its configuration matches while one of their containers waits in \`CrashLoopBackOff\`, and no others.

They follow from the configurations, so apply them again with each. Pods that only a new selector matches are refused to the weeder until then. A new kind of dependent resources is
in no rule of the prober's policy: **nothing of it is guarded** until then. The names of dependent resources are left to the roles.

### Where webhooks change the same objects

The prober scales Deployments by a patch of the object, not of its \`/scale\`, so mutating webhooks for Deployments are called. A ValidatingAdmissionPolicy sees what
they have made of it and takes that for the prober's doing. Where it refuses, it refuses scale-downs, and **restorations as well, so that what is held stays at 0**. A
webhook that leaves the object as it is does no harm, but the same webhook may have something to change later; one that labels or annotates Deployments does harm at once. On a seed of Gardener (as of 1.145) these are called:

| webhook | what it writes into what the prober scales |
| --- | --- |
| \`high-availability-config\` of gardener-resource-manager | \`replicas\` unless they are 0, node affinity, topology spread constraints, tolerations |
| \`controlplane\` of a provider's extension | flags, variables and volumes of kube-controller-manager, flags of cluster-autoscaler, the sidecar of machine-controller-manager **with its image**, labels of pods |

All other webhooks of gardener-resource-manager are for pods that are created. What the first writes is free. The second changes what pods run, as a thief would: after an
update of the extension, the next request that touches a Deployment brings the new image, and until the shoot is reconciled, which may be a day later, that is the
prober's. So there are two values (\`--set\`, or the chart's):

| \`policy.\` | what comes of it |
| --- | --- |
| \`proberActions=Deny\` | refuses; the default, but not with the profile \`gardener-seed\` |
| \`proberActions=Audit\` | refuses nothing; the default with the profile \`gardener-seed\`. What it would have refused is in the audit log of the API server, as the annotation \`validation.policy.admission.k8s.io/validation_failure\` of a request |
| \`beforeWebhooks=true\` | refuses, and right in every seed: a MutatingAdmissionPolicy, which changes nothing, judges the request before a webhook has changed it, and nothing but the count and the prober's annotations is free. What another MutatingAdmissionPolicy changes may count as the prober's. It takes **Kubernetes 1.36 or later** |

\`\`\`sh
dwd manifests --component policy --profile gardener-seed --set policy.beforeWebhooks=true | kubectl apply --server-side -f -
\`\`\`

A MutatingAdmissionPolicy has no words for a refusal. Ours has a patch that fails: it removes a field that no object has, whose name says what is wrong
(\`denied request: JSON Patch: remove operation does not apply: ... missing path: "/the prober may change nothing but ..."\`).

\`test/e2e/webhooks.test.ts\` plays an outage under each of them, with a webhook that changes something at every request. The weeder's policy always refuses: no
webhook changes what a delete says.

Another value makes other objects. \`dwd install\` and Helm remove the former ones that they have made, \`kubectl apply\` does not; and the actions of a binding that several
of these have made add up. Delete what there is (here of the namespace \`garden\`) before you change from one way to another, or the former \`Deny\` stays; then apply the new ones at once.
The second command is for Kubernetes 1.36 and later:

\`\`\`sh
kubectl delete validatingadmissionpolicybindings,validatingadmissionpolicies -l dependency-watchdog.gardener.cloud/installation=garden,dependency-watchdog.gardener.cloud/component=policy
kubectl delete mutatingadmissionpolicybindings,mutatingadmissionpolicies -l dependency-watchdog.gardener.cloud/installation=garden,dependency-watchdog.gardener.cloud/component=policy
\`\`\`
`;

it('docs/rights.md lists the rights that dwd manifests grants', async () => {
  await expect(page).toMatchFileSnapshot('../docs/rights.md');
});
