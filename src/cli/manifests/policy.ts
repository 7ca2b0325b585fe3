import type { KubeObject } from '../../install/index.ts';
import type { LabelRequirement, LabelSelector } from '../../kubernetes/api/label-selectors.ts';
import { type Policy, type Validation, listed, quoted } from './cel.ts';
import { type Installation, nameOf, seedLabelsOf, userOf } from './installation.ts';
import { proberPolicy } from './prober-policy.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';

const holds = ({ key, operator, values }: LabelRequirement): string => {
  const there = `${quoted(key)} in variables.labels`;
  const among = `variables.labels[${quoted(key)}] in ${listed(values)}`;
  switch (operator) {
    case 'In':
      return `(${there} && ${among})`;
    case 'NotIn':
      return `!(${there} && ${among})`;
    case 'Exists':
      return there;
    case 'DoesNotExist':
      return `!(${there})`;
  }
};

/** Converts a label selector to a CEL expression over `variables.labels`. */
export const celOfSelector = ({ matchLabels, matchExpressions }: LabelSelector): string => {
  const equalities = Object.entries(matchLabels).map(([key, value]) => ({
    key,
    operator: 'In' as const,
    values: [value],
  }));
  return [...equalities, ...matchExpressions].map(holds).join(' && ');
};

const containerLists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'];

const crashLoops = (list: string): string =>
  `has(oldObject.status.${list}) && oldObject.status.${list}.exists(c, has(c.state) && has(c.state.waiting) && ` +
  `has(c.state.waiting.reason) && c.state.waiting.reason == 'CrashLoopBackOff')`;

/** Returns the policy for the pods that the weeder may delete. */
const weederPolicy = ({ weeder }: Installation): Policy => {
  const selectors = weeder.settings.services.flatMap(({ podSelectors }) => podSelectors.map(celOfSelector));
  return {
    component: 'weeder',
    resourceRules: [{ apiGroups: [''], apiVersions: ['*'], resources: ['pods'], operations: ['DELETE'] }],
    variables: [{ name: 'labels', expression: 'has(oldObject.metadata.labels) ? oldObject.metadata.labels : {}' }],
    validations: [
      {
        expression: [...new Set(selectors)].map((selector) => `(${selector})`).join(' || '),
        message: 'the weeder may delete only pods that a selector of its configuration matches',
      },
      {
        expression: containerLists.map((list) => `(${crashLoops(list)})`).join(' || '),
        message: 'the weeder may delete only pods with a container that waits in CrashLoopBackOff',
      },
    ],
  };
};

/** Returns the fields that validating and mutating policies and their bindings have in common. */
const commonOf = (installation: Installation, { component, resourceRules, variables }: Policy) => {
  // The name of a policy, unlike that of a role, must be a DNS subdomain.
  const name = `${nameOf(installation, component)}.${installation.namespace}.dependency-watchdog.gardener.cloud`;
  const expression = `request.userInfo.username == ${quoted(userOf(installation, component))}`;
  return {
    metadata: { name, labels: seedLabelsOf(installation, 'policy') },
    spec: {
      // A request is rejected if an expression fails. The expressions are written so that none can fail.
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules },
      matchConditions: [{ name: 'user', expression }],
      variables,
    },
  };
};

/** Returns a policy that checks the object after mutating webhooks have changed it. */
const validating = (
  installation: Installation,
  policy: Policy,
  validationActions: readonly string[],
): readonly KubeObject[] => {
  const { metadata, spec } = commonOf(installation, policy);
  const validations = policy.validations.map((validation) => ({ ...validation, reason: 'Forbidden' }));
  return [
    { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata, spec: { ...spec, validations } },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: metadata.name, validationActions },
    },
  ];
};

/** Returns a patch that rejects the request: removing a field that does not exist fails, and the error contains the name of the field. */
const refusal = (message: string): string =>
  `[JSONPatch{op: 'remove', path: ${quoted(`/${message.replaceAll('~', '~0').replaceAll('/', '~1')}`)}}]`;

/**
 * Returns a policy that checks the object before any webhook changes it, because the API server calls mutating policies first
 * (https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/). It changes nothing.
 */
const mutating = (installation: Installation, policy: Policy): readonly KubeObject[] => {
  const { metadata, spec } = commonOf(installation, policy);
  const expression = policy.validations.reduceRight(
    (rest, { expression: allowed, message }: Validation) => `(${allowed}) ? (${rest}) : ${refusal(message)}`,
    '[]',
  );
  const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression } }];
  return [
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata,
      spec: { ...spec, reinvocationPolicy: 'Never', mutations },
    },
    { apiVersion, kind: 'MutatingAdmissionPolicyBinding', metadata, spec: { policyName: metadata.name } },
  ];
};

/** Returns the actions of the policy after webhooks. In a seed of Gardener it only audits, because webhooks there change the scaled resources. */
const proberActions = ({ profile, values }: Installation): readonly string[] => {
  const chosen = values['policy.proberActions'];
  if (chosen.length > 0) return chosen;
  return profile === 'gardener-seed' ? ['Audit'] : ['Deny'];
};

/** Returns both forms of the prober's policy. Only one of them is installed. */
export const proberPolicies = (installation: Installation) => ({
  afterWebhooks: validating(installation, proberPolicy(installation, 'after'), proberActions(installation)),
  beforeWebhooks: mutating(installation, proberPolicy(installation, 'before')),
});

export const weederPolicies = (installation: Installation): readonly KubeObject[] =>
  validating(installation, weederPolicy(installation), ['Deny']);

/** Returns admission policies that restrict prober and weeder further than RBAC can, so that a stolen token allows no more than the program does. */
export const policies = (
  installation: Installation,
  components: readonly string[] = ['prober', 'weeder'],
): readonly KubeObject[] => {
  const { afterWebhooks, beforeWebhooks } = proberPolicies(installation);
  const prober = installation.values['policy.beforeWebhooks'] ? beforeWebhooks : afterWebhooks;
  return [
    ...(components.includes('prober') ? prober : []),
    ...(components.includes('weeder') ? weederPolicies(installation) : []),
  ];
};
