import { createHash } from 'node:crypto';
import {
  formatProblem,
  gardenerConfigs,
  hasErrors,
  type LoadedConfig,
  loadCareConfig,
  loadProberConfig,
  loadWeederConfig,
} from '../../config/index.ts';
import { CommandError, UsageError } from '../errors.ts';
import type { CliIo } from '../io.ts';
import type { ManifestFlagValues } from './flags.ts';
import { gardenNamespace } from './gardener-seed.ts';
import { type Configured, type Installation, type RunningComponent, runningComponents } from './installation.ts';
import { careRules, type PolicyRule, proberRules, weederRules } from './rights.ts';
import { valuesFrom } from './values.ts';

type Paths = Readonly<Partial<Record<RunningComponent, string>>>;

const isRunning = (word: string): word is RunningComponent => runningComponents.some((one) => one === word);

/** `PATH`, or `COMPONENT=PATH,COMPONENT=PATH`. */
const pathsFrom = ({ component, 'config-file': text }: ManifestFlagValues): Paths => {
  if (text === undefined) return {};
  const named = text.split(/,(?=(?:prober|weeder|care)=)/).map((entry) => /^(prober|weeder|care)=(.+)$/s.exec(entry));
  if (named.every((match) => match !== null)) {
    return Object.fromEntries(named.map(([, name = '', path]) => [name, path]));
  }
  const [only, ...others] = component.filter(isRunning);
  if (only === undefined || others.length > 0) {
    throw new UsageError(
      `flag --config-file must say whose configuration ${text} is: ${runningComponents.map((one) => `${one}=PATH`).join(', ')}`,
    );
  }
  return { [only]: text };
};

const readConfig = async (
  component: RunningComponent,
  path: string | undefined,
  io: Pick<CliIo, 'readFile'>,
): Promise<string> => {
  if (path === undefined) return gardenerConfigs[component];
  try {
    return await io.readFile(path);
  } catch (error) {
    throw new CommandError(`cannot read --config-file ${path}: ${(error as Error).message}`);
  }
};

/** What is left of a container's memory limit for V8's heap: Node itself, TLS and buffers took 165 MB with 1000 shoots (docs/adr/0011-memory.md). */
const heapLimitMiB = (memoryLimitMiB: number): number => Math.floor((memoryLimitMiB * 5) / 8);

interface Source<Settings> {
  readonly text: string;
  /** As messages name it. */
  readonly name: string;
  readonly loaded: LoadedConfig<Settings>;
  readonly rules: (settings: Settings) => readonly PolicyRule[];
  readonly memoryLimitMiB: number;
}

const configured = <Settings>(source: Source<Settings>, lines: string[]): Configured<Settings> | undefined => {
  const { text, name, loaded, rules, memoryLimitMiB } = source;
  const { settings, problems } = loaded;
  lines.push(...problems.map((problem) => formatProblem(name, problem)));
  if (settings === undefined || hasErrors(problems)) return undefined;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
  return { text, hash, settings, rules: rules(settings), heapLimitMiB: heapLimitMiB(memoryLimitMiB) };
};

const ahead = { leftovers: 'error', looked: 'ahead' } as const;

/**
 * What the flags ask for, with the configurations that they name and, where they name none, those that Gardener generates. Warnings about
 * configurations go to stderr. Rejects with a UsageError where flags contradict each other, with a CommandError where a configuration is not valid.
 */
export const installationFrom = async (
  flags: ManifestFlagValues,
  io: Pick<CliIo, 'readFile' | 'stderr'>,
): Promise<Installation> => {
  const { profile, namespace, image, replicas, 'name-prefix': namePrefix } = flags;
  if (profile === 'gardener-seed' && namespace !== gardenNamespace) {
    throw new UsageError(
      `flag --profile gardener-seed needs --namespace ${gardenNamespace}: shoots let in nobody from another`,
    );
  }
  if (flags.component.includes('shoot-access') && flags.component.length > 1) {
    throw new UsageError(
      'flag --component takes shoot-access alone: it is for a shoot, and everything else for the seed',
    );
  }
  const values = valuesFrom(flags.set);
  const paths = pathsFrom(flags);
  const lines: string[] = [];
  const read = async <Settings>(
    component: RunningComponent,
    load: (text: string) => LoadedConfig<Settings>,
    rules: (settings: Settings) => readonly PolicyRule[],
  ): Promise<Configured<Settings> | undefined> => {
    const path = paths[component];
    const text = await readConfig(component, path, io);
    const { memoryLimitMiB } = values[component];
    return configured({ text, name: path ?? 'configuration', loaded: load(text), rules, memoryLimitMiB }, lines);
  };
  const prober = await read('prober', (text) => loadProberConfig(text, ahead), proberRules);
  const weeder = await read(
    'weeder',
    (text) => loadWeederConfig(text, ahead),
    () => weederRules,
  );
  const care = await read('care', (text) => loadCareConfig(text, ahead), careRules);
  if (prober === undefined || weeder === undefined || care === undefined) {
    throw new CommandError('the configuration is not valid', lines);
  }
  for (const line of lines) io.stderr(`${line}\n`);
  return { profile, namespace, namePrefix, image, replicas, values, prober, weeder, care };
};
