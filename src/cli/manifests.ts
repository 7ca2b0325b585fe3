import { stringify } from 'yaml';
import {
  formatProblem,
  gardenerConfigs,
  hasErrors,
  type LoadedConfig,
  loadCareConfig,
  loadProberConfig,
  loadWeederConfig,
} from '../config/index.ts';
import { type Command, defineCommand } from './command.ts';
import { CommandError } from './errors.ts';
import { choice, imageReference, namespaceName, text } from './flag-types.ts';
import { flag, optionalFlag, requiredFlag } from './flags.ts';
import type { CliIo } from './io.ts';
import { manifestsOf } from './manifests/objects.ts';
import { careRules, leaseRules, type PolicyRule, proberRules, weederRules } from './manifests/rights.ts';
import { version } from './build-info.ts';

type Component = keyof typeof gardenerConfigs;

/** The rights in the seed that a configuration demands; undefined where it is not valid. */
const rulesOf: Readonly<Record<Component, (config: string) => LoadedConfig<readonly PolicyRule[]>>> = {
  prober: (config) => {
    const { settings, problems } = loadProberConfig(config, { leftovers: 'error', looked: 'ahead' });
    return settings === undefined ? { problems } : { settings: proberRules(settings), problems };
  },
  weeder: (config) => {
    const { settings, problems } = loadWeederConfig(config, { leftovers: 'error' });
    return settings === undefined ? { problems } : { settings: weederRules, problems };
  },
  care: (config) => {
    const { settings, problems } = loadCareConfig(config, { leftovers: 'error', looked: 'ahead' });
    return settings === undefined ? { problems } : { settings: careRules(settings), problems };
  },
};

const description = `Prints the Kubernetes objects that run a component in a seed, as YAML: ServiceAccount, the rights that its configuration demands and no more, ConfigMap, a Deployment of two replicas, PodDisruptionBudget and Service.

Without --config-file, with the configuration that Gardener generates. The plurals of kinds in the rights are guessed: look at those of kinds of your own. Care gets no garden to write to: its kubeconfig and --garden-kubeconfig are yours to add.`;

const readConfig = async (component: Component, file: string | undefined, io: CliIo): Promise<string> => {
  if (file === undefined) return gardenerConfigs[component];
  try {
    return await io.readFile(file);
  } catch (error) {
    throw new CommandError(`cannot read --config-file ${file}: ${(error as Error).message}`);
  }
};

export const manifestsCommand: Command = defineCommand({
  name: 'manifests',
  summary: 'print the Kubernetes objects that run a component',
  description,
  flags: {
    component: requiredFlag(
      choice<Component>('component', ['prober', 'weeder', 'care']),
      'What to run: prober, weeder or care',
    ),
    'config-file': optionalFlag(text('path', 'a path'), 'Its configuration'),
    namespace: flag(namespaceName, 'garden', 'Where it runs', 'n'),
    image: flag(imageReference, `dependency-watchdog:${version}`, 'Image with dwd as its entry point'),
  },
  async run({ flags }, io) {
    const { component, namespace, image } = flags;
    const file = flags['config-file'];
    const config = await readConfig(component, file, io);
    const { settings: clusterRules, problems } = rulesOf[component](config);
    const lines = problems.map((problem) => formatProblem(file ?? 'configuration', problem));
    if (clusterRules === undefined || hasErrors(problems)) {
      throw new CommandError('the configuration is not valid', lines);
    }
    for (const line of lines) io.stderr(`${line}\n`);
    const rules = leaseRules(`dwd-${component}-leader-election`);
    const objects = manifestsOf({ component, namespace, image, config, clusterRules, rules });
    io.stdout(objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n'));
    return 0;
  },
});
