import { formatProblem, hasErrors } from '../../config/rules/index.ts';
import { createHash } from 'node:crypto';
import { type ComponentName, componentNames } from '../../config/index.ts';
import { type SettingsByComponent, configs } from '../configs.ts';
import { CommandError, UsageError } from '../errors.ts';
import { readFlagFile } from '../flag-file.ts';
import type { CliIo } from '../io.ts';
import type { ManifestFlagValues } from './flags.ts';
import { gardenNamespace } from './gardener-seed.ts';
import type { Configurations, ParsedConfiguration, Installation } from './installation.ts';
import { seedRules } from './rights.ts';
import { valuesFrom } from './values.ts';

type Paths = Readonly<Partial<Record<ComponentName, string>>>;

const isRunning = (word: string): word is ComponentName => componentNames.some((one) => one === word);

const isNamed = (text: string): boolean => componentNames.some((name) => text.startsWith(`${name}=`));

/** Splits at each comma before a `COMPONENT=`, because paths may contain commas. */
const splitNamed = (text: string): readonly string[] => {
  const [first = '', ...others] = text.split(',');
  const entries = [first];
  for (const piece of others) entries.push(isNamed(piece) ? piece : `${entries.pop() ?? ''},${piece}`);
  return entries;
};

/** Parses `PATH`, or `COMPONENT=PATH,COMPONENT=PATH`. */
const pathsFrom = ({ component, 'config-file': text }: ManifestFlagValues): Paths => {
  if (text === undefined) return {};
  const entries = splitNamed(text);
  if (entries.every((entry) => isNamed(entry) && entry.indexOf('=') < entry.length - 1)) {
    return Object.fromEntries(
      entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    );
  }
  const [only, ...others] = component.filter(isRunning);
  if (only === undefined || others.length > 0) {
    throw new UsageError(
      `flag --config-file must name the component of ${text}: ${componentNames.map((one) => `${one}=PATH`).join(', ')}`,
    );
  }
  return { [only]: text };
};

/** Returns the share of a container's memory limit for V8's heap. Node itself, TLS and buffers used 165 MB with 1000 shoots (docs/adr/0011-memory.md). */
const heapLimitMiB = (memoryLimitMiB: number): number => Math.floor((memoryLimitMiB * 5) / 8);

const ahead = { unknownFields: 'error', purpose: 'ahead' } as const;

/**
 * Returns the installation that the flags define, with the configurations that they name, or by default those that Gardener generates. Prints warnings
 * about configurations on stderr. Rejects with a UsageError if flags contradict each other, with a CommandError if a configuration is not valid.
 */
export const installationFrom = async (
  flags: ManifestFlagValues,
  io: Pick<CliIo, 'readFile' | 'stderr'>,
): Promise<Installation> => {
  const { profile, namespace, image, replicas, 'name-prefix': namePrefix } = flags;
  if (profile === 'gardener-seed' && namespace !== gardenNamespace) {
    throw new UsageError(
      `flag --profile gardener-seed needs --namespace ${gardenNamespace}: shoots accept connections from no other namespace`,
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
  const read = async <Name extends ComponentName>(
    name: Name,
  ): Promise<ParsedConfiguration<SettingsByComponent[Name]> | undefined> => {
    const config = configs[name];
    const path = paths[name];
    const text = path === undefined ? config.defaultText : await readFlagFile('config-file', path, io);
    const { settings, problems } = config.load(text, ahead);
    lines.push(...problems.map((problem) => formatProblem(path ?? 'configuration', problem)));
    if (settings === undefined || hasErrors(problems)) return undefined;
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
    const { memoryLimitMiB } = values[name];
    return { text, hash, settings, rules: seedRules[name](settings), heapLimitMiB: heapLimitMiB(memoryLimitMiB) };
  };
  const found = new Map<string, ParsedConfiguration<unknown> | undefined>();
  for (const name of componentNames) found.set(name, await read(name));
  if ([...found.values()].includes(undefined)) throw new CommandError('the configuration is not valid', lines);
  for (const line of lines) io.stderr(`${line}\n`);
  const configurations = Object.fromEntries(found) as unknown as Configurations;
  return { profile, namespace, namePrefix, image, replicas, values, ...configurations };
};
