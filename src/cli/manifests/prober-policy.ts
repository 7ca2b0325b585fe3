import { groupOf } from '../../kubernetes/api/resource-ref.ts';
import { writtenAnnotations } from '../../gardener/scaling-annotations.ts';
import { type Policy, type Validation, listed, sameBut } from './cel.ts';
import type { Installation } from './installation.ts';
import { guessResource } from './rights.ts';

/** Metadata fields that the API server itself changes. */
const kept = ['generation', 'managedFields', 'resourceVersion'];

/** Pod fields that the webhook high-availability-config of gardener-resource-manager writes. They decide where pods run, not what runs. */
const placement = ['affinity', 'tolerations', 'topologySpreadConstraints'];

const isApps = "request.resource.group == 'apps'";

/** Defines two variables: a field after and before the update. An absent field is an empty map. */
const variables = (name: string, field: string, from: string) =>
  ['After', 'Before'].map((when) => ({
    name: `${name}${when}`,
    expression: `'${field}' in ${from}${when} ? ${from}${when}.${field} : {}`,
  }));

const marks: Validation = {
  expression: sameBut('variables.marksAfter', 'variables.marksBefore', listed(writtenAnnotations)),
  message: `the prober may change no annotations but ${writtenAnnotations.join(', ')}`,
};
/** Protects labels and other annotations, because they control controllers: one annotation makes the Deployment controller roll back to an older image. */
const metadata: Validation = {
  expression: sameBut('variables.metadataAfter', 'variables.metadataBefore', listed(['annotations', ...kept])),
  message: 'the prober may change nothing in the metadata but its own annotations',
};
const spec: Validation = {
  expression: sameBut('variables.specAfter', 'variables.specBefore', 'variables.freeInSpec'),
  message: 'the prober may change nothing but spec.replicas, or the count of the scale subresource',
};
const beside: Validation = {
  expression: sameBut(
    'variables.objectAfter',
    'variables.objectBefore',
    listed(['apiVersion', 'kind', 'metadata', 'spec']),
  ),
  message: 'the prober may change nothing but the number of replicas and its own annotations',
};
const template: readonly Validation[] = [
  {
    expression: sameBut('variables.templateAfter', 'variables.templateBefore', "['spec']"),
    message: 'the prober may change nothing in the metadata of pods',
  },
  {
    expression: sameBut('variables.podAfter', 'variables.podBefore', listed(placement)),
    message: 'the prober may not change what pods run',
  },
];

/** Rules of the policy before webhooks. */
const strict: Pick<Policy, 'variables' | 'validations'> = {
  variables: [{ name: 'freeInSpec', expression: `${isApps} ? ['replicas'] : []` }],
  validations: [spec],
};

/** Rules of the policy after webhooks. Changes by webhooks count as the prober's, so the placement of pods may change, but not what they run. */
const lenient: Pick<Policy, 'variables' | 'validations'> = {
  variables: [
    { name: 'freeInSpec', expression: `${isApps} ? ['replicas', 'template'] : []` },
    ...variables('template', 'template', 'variables.spec'),
    ...variables('pod', 'spec', 'variables.template'),
  ],
  validations: [spec, ...template],
};

/**
 * Returns the policy for the prober's changes of dependent resources. RBAC alone covers the subresource `scale`, which can only change the count. For
 * kinds that are scaled through that subresource, the policy allows no change of the spec.
 */
export const proberPolicy = (installation: Installation, webhooks: 'before' | 'after'): Policy => {
  const { prober } = installation;
  const byGroup = new Map<string, Set<string>>();
  for (const { ref } of prober.settings.dependentResources) {
    const group = groupOf(ref);
    byGroup.set(group, (byGroup.get(group) ?? new Set()).add(guessResource(ref.kind)));
  }
  const { variables: further, validations } = webhooks === 'before' ? strict : lenient;
  return {
    component: 'prober',
    resourceRules: Array.from(byGroup, ([group, resources]) => ({
      apiGroups: [group],
      apiVersions: ['*'],
      resources: [...resources].toSorted(),
      operations: ['UPDATE'],
    })),
    variables: [
      // `dyn` makes an object a map of its fields.
      { name: 'objectAfter', expression: 'dyn(object)' },
      { name: 'objectBefore', expression: 'dyn(oldObject)' },
      ...variables('metadata', 'metadata', 'variables.object'),
      ...variables('marks', 'annotations', 'variables.metadata'),
      ...variables('spec', 'spec', 'variables.object'),
      ...further,
    ],
    validations: [...validations, marks, metadata, beside],
  };
};
