import { expect, it } from 'vitest';
import { careConfig } from '../src/care/config.ts';
import { careGardenGrants, careGrants, careShootGrants } from '../src/care/rights.ts';
import { writtenAnnotations } from '../src/annotations/scaling-annotations.ts';
import { proberConfig } from '../src/prober/config/config.ts';
import { proberGrants, proberShootGrants } from '../src/prober/rights.ts';
import { type Grant, leaseGrants } from '../src/process/rights/grants.ts';
import { weederGrants } from '../src/weeder/component.ts';

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
  ['| resource | names | verbs | purpose |', '| --- | --- | --- | --- |', ...grants.map(row)].join('\n');

const leases = (component: string): string => table(leaseGrants(`dwd-${component}-leader-election`, 'garden'));

const plural = ({ kind }: { readonly kind: string }): string => `${kind.toLowerCase()}s`;

const page = `# Rights

The rights of each component, and their purpose. [SECURITY.md](../SECURITY.md) describes what an attacker could do with them. One list per component generates this page and the
program's own check (SelfSubjectAccessReview, at the start and every five minutes); a test compares the roles of the chart with it. \`test/real\` runs each component on real API servers with exactly these rights: it uses all of them, and no request is refused.

The log names a missing right (\`a right is missing: grant it\`), and \`dwd_missing_rights\` and \`dwd_missing_garden_rights\` count them. Without the right to create Events, the program records none and logs one
line. It watches Secrets, Leases and dependent resources by name, so that a right can be limited to those names.

## Prober

In the seed, with the configuration that Gardener generates. Your configuration determines the kinds and names:

${table(proberGrants(prober, plural))}

The prober scales kinds other than Deployment, StatefulSet and ReplicaSet through their subresource \`/scale\`, which also needs \`get\` and \`patch\`.

With leader election, in the namespace where the prober runs:

${leases('prober')}

In each shoot (the ClusterRole \`system:public-info-viewer\` already allows every user \`GET /version\`):

${table(proberShootGrants)}

In the shoots of Gardener, gardenlet grants these rights and \`get\`. For any other shoot, [shoot-access.yaml](../deploy/shoot-access.yaml) has a ServiceAccount with a
token and these roles, and the commands that create the Secret with the kubeconfig.

## Weeder

In the seed:

${table(weederGrants)}

With leader election, in the namespace where the weeder runs:

${leases('weeder')}

## Care

In the seed, where care only reads. If the seed does not serve a kind of extension, care assumes that there are none:

${table(careGrants(care))}

With leader election, in the namespace where care runs:

${leases('care')}

In the garden, with \`--garden-kubeconfig\`:

${table(careGardenGrants)}

In each shoot (every user may \`GET /healthz\`, like \`/version\`):

${table(careShootGrants)}

## Operator

With \`operator.enabled\` the chart has two roles for the people who operate an installation; the notes of \`helm install\` have the commands that bind a user to them. They allow every command of the
[runbooks](runbooks/README.md) and of [operate](operate.md): \`test/real/operator-role.test.ts\` takes them out of these pages and asks an API server. In the seed:

| resource | names | verbs | purpose |
| --- | --- | --- | --- |
| Clusters, Machines, Deployments, StatefulSets, ReplicaSets, pods, Events | | get, list, watch | to see shoots, what is held and why, and what became of the machines |
| Namespaces | | get, list, watch, patch | to pause and resume shoots |
| dependent resources, and their \`/scale\` | as configured | get, list, watch, patch | to release held resources, and to scale by hand without a prober |
| Secrets | as configured | list | for \`dwd preflight\` |
| SubjectAccessReviews | | create | for \`dwd preflight\` |

In the namespace where the prober runs. These rights give access to pods: granted in all namespaces, they would open every control plane.

| resource | names | verbs | purpose |
| --- | --- | --- | --- |
| \`pods/log\`, \`pods/proxy\`, \`pods/portforward\`, pods of \`metrics.k8s.io\` | | get, list, create | to read logs, the status of the leader, the page, and memory |
| pods | | delete | to end a replica that hangs |
| Deployments | those of the chart | patch | to restart them |
| Leases | all; those of the components | list; get, delete | to see which replica leads, and to end a leadership by hand |
| ConfigMaps | | get, list | to release held resources in the configured order |

The prober itself does not get \`pods/proxy\`: it would give access to every pod of its namespace, and only the page of a standby would use it. That page shows the standby's own view, and which pod leads
([page](page.md#how-current-the-page-is)).

## Rights that roles cannot limit

The right to patch a Deployment allows replacing its image, and the right to delete pods allows deleting all of them.
With \`policy.enabled\` the chart has admission policies (Kubernetes 1.30 or later) for the ServiceAccounts of prober and
weeder, so that a stolen token allows no more than the program does:

- The prober may change \`spec.replicas\` of Deployments, StatefulSets and ReplicaSets, the count in the \`/scale\` of other kinds, and its own annotations on all of them:
  ${quoted(writtenAnnotations)}. After webhooks (below), the placement of pods (\`affinity\`, \`tolerations\`, \`topologySpreadConstraints\`) may
  change as well. A request that changes anything else is rejected: images, commands, variables, volumes, the ServiceAccount, and labels and annotations of pods. So are other labels and annotations
  of the Deployment: the annotation \`deprecated.deployment.rollback.to\` makes the Deployment controller roll back to an older image.
- The weeder may delete only pods that a selector of its configuration matches, and only while one of their containers waits in \`CrashLoopBackOff\`.

The policies follow from the configurations, as the roles do.

### Where webhooks change the same objects

The prober scales Deployments by a patch of the object, not of its \`/scale\`, so the API server calls mutating webhooks for Deployments. A ValidatingAdmissionPolicy checks the object after their changes,
and counts these as the prober's. If it rejects them, it rejects scale-downs, and **restorations as well, so that held resources stay at 0**. A
webhook that does not change the object does no harm now, but it may change something later; one that labels or annotates Deployments does harm at once. On a seed of Gardener (as of 1.145), the API server calls these:

| webhook | fields that it writes in the scaled resources |
| --- | --- |
| \`high-availability-config\` of gardener-resource-manager | \`replicas\` unless they are 0, node affinity, topology spread constraints, tolerations |
| \`controlplane\` of a provider's extension | flags, variables and volumes of kube-controller-manager, flags of cluster-autoscaler, the sidecar of machine-controller-manager **with its image**, labels of pods |

All other webhooks of gardener-resource-manager are for the creation of pods. The policy allows the fields of the first webhook. The second changes what pods run, as an attacker would: after an
update of the extension, the next request for a Deployment brings the new image. Until the shoot is reconciled, which may be a day later, that is a request of the
prober. So there are two values:

| \`policy.\` | effect |
| --- | --- |
| \`proberActions: [Deny]\` | rejects violations; the default |
| \`proberActions: [Audit]\` | rejects nothing; the default of \`values-gardener-seed.yaml\`. The audit log of the API server shows violations as the annotation \`validation.policy.admission.k8s.io/validation_failure\` of a request |
| \`beforeWebhooks: true\` | rejects violations, and is right for every seed: a MutatingAdmissionPolicy, which changes nothing, checks the request before webhooks change it, and allows only changes of the count and of the prober's annotations. Changes by another MutatingAdmissionPolicy may count as the prober's. Requires **Kubernetes 1.36 or later** |

A MutatingAdmissionPolicy cannot reject a request with a message. Ours rejects it by a patch that fails: the patch removes a field that no object has, and whose name is the message
(\`denied request: JSON Patch: remove operation does not apply: ... missing path: "/the prober may change nothing but ..."\`).

\`test/real/webhooks.test.ts\` plays an outage with each of these values, with a webhook that changes every request. The weeder's policy always rejects violations: webhooks cannot change
a delete request.
`;

it('docs/rights.md lists the rights of the components', async () => {
  await expect(page).toMatchFileSnapshot('../docs/rights.md');
});
