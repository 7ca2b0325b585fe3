import { type Command, defineCommand } from './command.ts';
import { choice } from './flag-types.ts';
import { flag } from './parse-flags.ts';
import { chartValuesOf } from './manifests/chart-values.ts';
import { manifestFlags } from './manifests/flags.ts';
import { installationFrom } from './manifests/options.ts';
import { renderManifests, scriptsFor } from './manifests/render.ts';
import { valuesByKey } from './manifests/values.ts';
import { manifestYaml } from './manifests/yaml.ts';

const description = `Prints the Kubernetes objects that run components in a seed, as YAML, in the order in which they are to be applied: ServiceAccount, the rights that the configuration demands and no more, immutable ConfigMap, Service, a Deployment, PodDisruptionBudget; with the profile plain a NetworkPolicy, and a ServiceMonitor where serviceMonitor.enabled is set; with the profile gardener-seed the labels and annotations that a seed of Gardener looks for, in its namespace garden. The namespace must be there.

Without --config-file, with the configurations that Gardener generates. The plurals of kinds in the rights are guessed: look at those of kinds of your own. Care writes nothing until care.gardenKubeconfigSecret names how it reaches the garden.

Keys of --set: ${Object.keys(valuesByKey).join(', ')}. docs/manifests.md tells what they mean and what they are by default.`;

export const manifestsCommand: Command = defineCommand({
  name: 'manifests',
  summary: 'print the Kubernetes objects that run components',
  description,
  flags: {
    ...manifestFlags,
    output: flag(
      choice('format', ['yaml', 'values']),
      'yaml',
      'What to print: yaml, the objects; or values, with which the Helm chart renders the same',
      'o',
    ),
  },
  async run({ flags }, io) {
    const installation = await installationFrom(flags, io);
    const documents: readonly object[] =
      flags.output === 'values'
        ? [chartValuesOf(installation, flags.component)]
        : renderManifests(installation, flags.component);
    io.stdout(documents.map(manifestYaml).join('---\n'));
    if (flags.output === 'yaml') io.stderr(scriptsFor(installation, flags.component));
    return 0;
  },
});
