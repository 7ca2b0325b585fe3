import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { parseFlags } from '../../src/cli/parse-flags.ts';
import { manifestFlags } from '../../src/cli/manifests/flags.ts';
import { installationFrom } from '../../src/cli/manifests/options.ts';
import { templates } from './templates.ts';
import { valuesFiles } from './values.ts';

const { version, description, license } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, string>>;

const chart = {
  apiVersion: 'v2',
  name: 'dependency-watchdog',
  type: 'application',
  description,
  version,
  appVersion: version,
  // The first version with unhealthyPodEvictionPolicy of PodDisruptionBudgets and with ValidatingAdmissionPolicies.
  kubeVersion: '>=1.30.0-0',
  keywords: ['gardener', 'kubernetes', 'control-plane', 'meltdown-protection'],
  annotations: { 'artifacthub.io/license': license },
};

/** Contents of the chart's files, by path within its folder. */
export const chartFiles = async (): Promise<Readonly<Record<string, string>>> => {
  const flags = parseFlags(manifestFlags, {
    component: 'prober,weeder',
    image: `dependency-watchdog:${version ?? ''}`,
  });
  const { values, schema } = valuesFiles(await installationFrom(flags, { readFile: fails, stderr: () => undefined }));
  return {
    'Chart.yaml': `# Written by tools/chart: make chart.\n${stringify(chart)}`,
    'values.yaml': values,
    'values.schema.json': schema,
    ...Object.fromEntries(Object.entries(templates).map(([name, text]) => [`templates/${name}`, text])),
  };
};

const fails = async (): Promise<never> => {
  throw new Error('no file is read');
};
