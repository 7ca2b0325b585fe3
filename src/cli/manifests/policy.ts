import { groupOf, type LabelRequirement, type LabelSelector, writtenAnnotations } from '../../domain/index.ts';
import { type Installation, type KubernetesObject, labelsOf, nameOf, userOf } from './installation.ts';
import { guessResource } from './rights.ts';

/** An expression in CEL (https://kubernetes.io/docs/reference/using-api/cel/) and what a refused request is told. */
interface Validation {
  readonly expression: string;
  readonly message: string;
}

interface ResourceRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly operations: readonly string[];
}

interface Policy {
  readonly component: 'prober' | 'weeder';
  readonly resourceRules: readonly ResourceRule[];
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly Validation[];
}

const apiVersion = 'admissionregistration.k8s.io/v1';

/** What is quoted so is checked before: names of labels, annotations and users have neither quotes nor backslashes. */
const quoted = (text: string): string => `'${text}'`;
const listed = (texts: readonly string[]): string => `[${texts.map(quoted).join(', ')}]`;

/** True if two maps differ in `free` at most. */
const sameBut = (after: string, before: string, free: string): string =>
  [
    `${after}.all(k, k in ${free} || (k in ${before} && ${after}[k] == ${before}[k]))`,
    `${before}.all(k, k in ${free} || k in ${after})`,
  ].join(' && ');

/**
 * What the prober may change in what it scales. The subresource `scale` is left to RBAC: nothing but the count can be changed through it. Kinds
 * that are scaled through it alone have no field of their spec changed here.
 */
const proberPolicy = ({ prober }: Installation): Policy => {
  const byGroup = new Map<string, Set<string>>();
  for (const { ref } of prober.settings.dependentResources) {
    const group = groupOf(ref);
    byGroup.set(group, (byGroup.get(group) ?? new Set()).add(guessResource(ref.kind)));
  }
  return {
    component: 'prober',
    resourceRules: Array.from(byGroup, ([group, resources]) => ({
      apiGroups: [group],
      apiVersions: ['*'],
      resources: [...resources].toSorted(),
      operations: ['UPDATE'],
    })),
    // `dyn`: an object as a map of its fields.
    variables: [
      { name: 'after', expression: 'dyn(object)' },
      { name: 'before', expression: 'dyn(oldObject)' },
      { name: 'specAfter', expression: "'spec' in variables.after ? variables.after.spec : {}" },
      { name: 'specBefore', expression: "'spec' in variables.before ? variables.before.spec : {}" },
      { name: 'freeInSpec', expression: "request.resource.group == 'apps' ? ['replicas'] : []" },
      { name: 'marksAfter', expression: 'has(object.metadata.annotations) ? object.metadata.annotations : {}' },
      { name: 'marksBefore', expression: 'has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {}' },
    ],
    validations: [
      {
        expression: sameBut('variables.specAfter', 'variables.specBefore', 'variables.freeInSpec'),
        message: 'the prober may change nothing but spec.replicas, or the count of the scale subresource',
      },
      {
        expression: sameBut('variables.marksAfter', 'variables.marksBefore', listed(writtenAnnotations)),
        message: `the prober may change no annotations but ${writtenAnnotations.join(', ')}`,
      },
      {
        // What the API server itself keeps is free.
        expression: sameBut(
          'variables.after.metadata',
          'variables.before.metadata',
          listed(['annotations', 'generation', 'managedFields', 'resourceVersion']),
        ),
        message: 'the prober may change nothing in the metadata but its own annotations',
      },
      {
        expression: sameBut('variables.after', 'variables.before', listed(['apiVersion', 'kind', 'metadata', 'spec'])),
        message: 'the prober may change nothing but the number of replicas and its own annotations',
      },
    ],
  };
};

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

/** A label selector in CEL, over `variables.labels`. */
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

/** Which pods the weeder may delete. */
const weederPolicy = ({ weeder }: Installation): Policy => {
  const selectors = weeder.settings.services.flatMap(({ podSelectors }) => podSelectors.map(celOfSelector));
  return {
    component: 'weeder',
    resourceRules: [{ apiGroups: [''], apiVersions: ['*'], resources: ['pods'], operations: ['DELETE'] }],
    variables: [{ name: 'labels', expression: 'has(oldObject.metadata.labels) ? oldObject.metadata.labels : {}' }],
    validations: [
      {
        expression: [...new Set(selectors)].map((selector) => `(${selector})`).join(' || '),
        message: 'the weeder may delete no pods but those that a selector of its configuration matches',
      },
      {
        expression: containerLists.map((list) => `(${crashLoops(list)})`).join(' || '),
        message: 'the weeder may delete no pods but those of which a container waits in CrashLoopBackOff',
      },
    ],
  };
};

const objectsOf = (installation: Installation, policy: Policy): readonly KubernetesObject[] => {
  const { component, resourceRules, variables, validations } = policy;
  // Names of policies, unlike those of roles, are those of DNS.
  const name = `${nameOf(installation, component)}.${installation.namespace}.dependency-watchdog.gardener.cloud`;
  const metadata = { name, labels: labelsOf(installation, 'policy') };
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        // A request that cannot be judged is refused: the expressions leave nothing to fail on.
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules },
        matchConditions: [
          { name: 'user', expression: `request.userInfo.username == ${quoted(userOf(installation, component))}` },
        ],
        variables,
        validations: validations.map((validation) => ({ ...validation, reason: 'Forbidden' })),
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
};

/** Admission policies that refuse prober and weeder what RBAC cannot: whoever steals a token of theirs can do no more than they. */
export const policies = (installation: Installation): readonly KubernetesObject[] =>
  [proberPolicy(installation), weederPolicy(installation)].flatMap((policy) => objectsOf(installation, policy));
