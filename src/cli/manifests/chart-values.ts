import type { KubeObject } from '../../install/index.ts';
import type { ComponentName } from '../../config/index.ts';
import type { ParsedConfiguration, Installation } from './installation.ts';
import { operatorRoles } from './operator.ts';
import { proberPolicies, weederPolicies } from './policy.ts';
import type { ManifestPart } from './render.ts';
import { commonValues } from './values.ts';

/** Values of the Helm chart as nested objects, the form of a values file. */
export type ChartValues = Readonly<Record<string, unknown>>;

/** Converts `{ 'a.b': 1 }` to `{ a: { b: 1 } }`. */
const nested = (flat: ChartValues): ChartValues => {
  const root: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(flat)) {
    const steps = path.split('.');
    const last = steps.pop() ?? '';
    let place = root;
    for (const step of steps) place = (place[step] ??= {}) as Record<string, unknown>;
    place[last] = value;
  }
  return root;
};

/** Returns the configuration with the rights that it needs. The hash identifies the configuration from which the rights were derived. */
const configValues = ({ text, rules, hash }: ParsedConfiguration<unknown>) => ({ config: text, rules, rulesFor: hash });

/** Parts whose objects are derived from configurations in ways that a template cannot express. */
export const derivedParts = ['operator', 'policy'] as const satisfies readonly ManifestPart[];

/** Returns all policies, the prober's in both forms. The chart renders one of the two forms. */
const policyObjects = (installation: Installation): readonly KubeObject[] => {
  const { beforeWebhooks, afterWebhooks } = proberPolicies(installation);
  return [...beforeWebhooks, ...afterWebhooks, ...weederPolicies(installation)];
};

/** Returns the values with which the chart renders the objects of `renderManifests`. The namespace is not a value: it is that of the Helm release. */
export const chartValuesOf = (installation: Installation, chosen: readonly ManifestPart[]): ChartValues => {
  const { profile, namePrefix, image, replicas, values } = installation;
  const keys = Object.keys(commonValues) as readonly (keyof typeof commonValues)[];
  const {
    care: onlyOfCare,
    policy: onlyOfPolicy,
    ...common
  } = nested(Object.fromEntries(keys.map((key) => [key, values[key]])));
  const ofComponent = (component: ComponentName): ChartValues => ({
    enabled: chosen.includes(component),
    ...values[component],
    ...configValues(installation[component]),
  });
  // These objects are values themselves. The chart fills in names; `objectsFor` identifies the configurations from which the objects were derived.
  const derived = (part: ManifestPart, objectsOf: (unnamed: Installation) => readonly KubeObject[]): ChartValues => {
    const { prober, weeder } = installation;
    const unnamed = { ...installation, namespace: '{{ .Release.Namespace }}', namePrefix: '{{ .Values.namePrefix }}' };
    return {
      enabled: chosen.includes(part),
      objects: objectsOf(unnamed),
      objectsFor: `${prober.hash}-${weeder.hash}`,
    };
  };
  const components: Readonly<Record<ComponentName, ChartValues>> = {
    prober: ofComponent('prober'),
    weeder: ofComponent('weeder'),
    care: { ...ofComponent('care'), ...(onlyOfCare as ChartValues) },
  };
  return {
    profile,
    namePrefix,
    image,
    replicas,
    ...common,
    ...components,
    operator: derived('operator', operatorRoles),
    policy: { ...derived('policy', policyObjects), ...(onlyOfPolicy as ChartValues) },
  };
};
