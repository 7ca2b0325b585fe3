import { groupOf } from '../../kubernetes/api/resource-ref.ts';
import { formerAnnotation, writtenAnnotations } from '../../gardener/scaling-annotations.ts';
import { type Policy, type Validation, listed, sameBut } from './cel.ts';
import type { Installation } from './installation.ts';
import { guessResource } from './rights.ts';

/** What the API server itself keeps. */
const kept = ['generation', 'managedFields', 'resourceVersion'];

/** Where pods run, and not what runs: what the webhook high-availability-config of gardener-resource-manager writes. */
const placement = ['affinity', 'tolerations', 'topologySpreadConstraints'];

const isApps = "request.resource.group == 'apps'";

/** Two variables: a field of the object as it becomes, and as it was; empty where there is none. */
const variables = (name: string, field: string, from: string) =>
  ['After', 'Before'].map((when) => ({
    name: `${name}${when}`,
    expression: `'${field}' in ${from}${when} ? ${from}${when}.${field} : {}`,
  }));

/** Beside ours, those that a configuration has the prober set. */
const marksOf = ({ prober }: Installation): Validation => {
  const set = prober.settings.dependentResources.flatMap(({ annotation }) => annotation?.key ?? []);
  const written = [...writtenAnnotations, ...(set.length === 0 ? [] : [formerAnnotation]), ...new Set(set)];
  return {
    expression: sameBut('variables.marksAfter', 'variables.marksBefore', listed(written)),
    message: `the prober may change no annotations but ${written.join(', ')}`,
  };
};
/** Labels and annotations steer controllers: that of Deployments takes one for a request to bring back an older image. */
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
    message: 'the prober may change nothing of what pods run',
  },
];

/** Before the webhooks. */
const strict: Pick<Policy, 'variables' | 'validations'> = {
  variables: [{ name: 'freeInSpec', expression: `${isApps} ? ['replicas'] : []` }],
  validations: [spec],
};

/** After the webhooks, whose changes count as the prober's: the placement of pods is free, and what runs is not. */
const lenient: Pick<Policy, 'variables' | 'validations'> = {
  variables: [
    { name: 'freeInSpec', expression: `${isApps} ? ['replicas', 'template'] : []` },
    ...variables('template', 'template', 'variables.spec'),
    ...variables('pod', 'spec', 'variables.template'),
  ],
  validations: [spec, ...template],
};

/**
 * What the prober may change in what it scales. The subresource `scale` is left to RBAC: nothing but the count can be changed through it. Kinds
 * that are scaled through it alone have no field of their spec changed here.
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
      // `dyn`: an object as a map of its fields.
      { name: 'objectAfter', expression: 'dyn(object)' },
      { name: 'objectBefore', expression: 'dyn(oldObject)' },
      ...variables('metadata', 'metadata', 'variables.object'),
      ...variables('marks', 'annotations', 'variables.metadata'),
      ...variables('spec', 'spec', 'variables.object'),
      ...further,
    ],
    validations: [...validations, marksOf(installation), metadata, beside],
  };
};
