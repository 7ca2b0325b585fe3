import { type Configured, type Installation, runningComponents } from './installation.ts';
import type { Component } from './render.ts';
import { commonValues, componentValues } from './values.ts';

/** Values of the chart: objects in objects, as a values file has them. */
export interface ChartValues {
  readonly [key: string]: unknown;
}

/** `{ 'a.b': 1 }` as `{ a: { b: 1 } }`. */
const nested = (flat: Readonly<Record<string, unknown>>): ChartValues => {
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
const configValues = ({ text, rules, hash }: Configured<unknown>) => ({ config: text, rules, rulesFor: hash });

const isOfComponent = (key: string): boolean => runningComponents.some((component) => key.startsWith(`${component}.`));

/** Values under which the chart renders what `renderManifests` does. The namespace is not among them: it is the release's. */
export const chartValuesOf = (installation: Installation, chosen: readonly Component[]): ChartValues => {
  const { profile, namePrefix, image, replicas, values } = installation;
  const common = Object.keys(commonValues) as readonly (keyof typeof commonValues)[];
  const components = runningComponents.flatMap((component) => {
    const own = Object.keys(componentValues[component]) as readonly (keyof (typeof componentValues)['prober'])[];
    return [
      [`${component}.enabled`, chosen.includes(component)],
      ...own.map((key) => [`${component}.${key}`, values[component][key]]),
      ...Object.entries(configValues(installation[component])).map(([key, value]) => [`${component}.${key}`, value]),
    ] as const;
  });
  return nested({
    ...{ profile, namePrefix, image, replicas },
    ...Object.fromEntries(common.filter((key) => !isOfComponent(key)).map((key) => [key, values[key]])),
    ...Object.fromEntries(components),
    ...Object.fromEntries(common.filter(isOfComponent).map((key) => [key, values[key]])),
  });
};
