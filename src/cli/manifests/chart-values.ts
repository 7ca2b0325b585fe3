import type { KubeObject } from '../../install/index.ts';
import type { ComponentName } from '../../config/index.ts';
import type { ParsedConfiguration, Installation } from './installation.ts';
import { operatorRoles } from './operator.ts';
import { proberPolicies, weederPolicies } from './policy.ts';
import type { ManifestPart } from './render.ts';
import { commonValues } from './values.ts';

/** Values of the chart: objects in objects, as a values file has them. */
export type ChartValues = Readonly<Record<string, unknown>>;

/** `{ 'a.b': 1 }` as `{ a: { b: 1 } }`. */
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

/** The rights come with the configuration that demands them, and say by its hash of which one they are. */
const configValues = ({ text, rules, hash }: ParsedConfiguration<unknown>) => ({ config: text, rules, rulesFor: hash });

/** Parts whose objects follow from configurations in ways that no template can follow. */
export const derivedParts = ['operator', 'policy'] as const satisfies readonly ManifestPart[];

/** The prober's in both forms: the chart renders one of them. */
const policyObjects = (installation: Installation): readonly KubeObject[] => {
  const { beforeWebhooks, afterWebhooks } = proberPolicies(installation);
  return [...beforeWebhooks, ...afterWebhooks, ...weederPolicies(installation)];
};

/** Values under which the chart renders what `renderManifests` does. The namespace is not among them: it is the release's. */
export const chartValuesOf = (installation: Installation, chosen: readonly ManifestPart[]): ChartValues => {
  const { profile, namePrefix, image, replicas, values } = installation;
  const keys = Object.keys(commonValues) as readonly (keyof typeof commonValues)[];
  const {
    care: onlyOfCare,
    prober: onlyOfProber,
    policy: onlyOfPolicy,
    ...common
  } = nested(Object.fromEntries(keys.map((key) => [key, values[key]])));
  const ofComponent = (component: ComponentName): ChartValues => ({
    enabled: chosen.includes(component),
    ...values[component],
    ...configValues(installation[component]),
  });
  // Their objects are values, in which the chart fills in names, and which say of which configurations they are.
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
    prober: { ...ofComponent('prober'), ...(onlyOfProber as ChartValues) },
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
