import { type Command, defineCommand } from './command.ts';
import { choice } from './flag-types.ts';
import { flag } from './parse-flags.ts';
import { chartValuesOf } from './manifests/chart-values.ts';
import { manifestFlags } from './manifests/flags.ts';
import { installationFrom } from './manifests/options.ts';
import { renderManifests, scriptsFor } from './manifests/render.ts';
import { valuesByKey } from './manifests/values.ts';
import { manifestYaml } from './manifests/yaml.ts';

const description = `Prints the Kubernetes objects that run components in a seed, as YAML, in the order in which to apply them. Each component has a ServiceAccount with only the rights that its configuration needs, an immutable ConfigMap, a Service, a Deployment and a PodDisruptionBudget. The profile plain adds a NetworkPolicy and, if serviceMonitor.enabled is set, a ServiceMonitor. The profile gardener-seed adds the labels and annotations that a seed of Gardener needs, and supports only the namespace garden. The namespace must exist.

Without --config-file, the objects have the configurations that Gardener generates. The plural names of resources in the rights are guessed from their kinds: check those of custom kinds. Care writes nothing unless care.gardenKubeconfigSecret names a Secret with the kubeconfig for the garden.

Keys of --set: ${Object.keys(valuesByKey).join(', ')}. docs/manifests.md describes them and their defaults.`;

export const manifestsCommand: Command = defineCommand({
  name: 'manifests',
  summary: 'print the Kubernetes objects that run components',
  description,
  flags: {
    ...manifestFlags,
    output: flag(
      choice('format', ['yaml', 'values']),
      'yaml',
      'Output format: yaml prints the objects, values prints the values with which the Helm chart renders the same objects',
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
