import { parse } from 'yaml';
import {
  formatDocument,
  limitsFrom,
  loadConfigFile,
  type CliIo,
  type RunRehearse,
  UsageError,
} from '../../src/cli/index.ts';
import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import { proberConfig } from '../../src/prober/index.ts';
import { worldSourceOf } from '../harness/index.ts';
import { planRehearsal, rehearse, formatRehearsal } from '../rehearsal/index.ts';
import type { WorldSource } from '../world/index.ts';

const loadSettings = async (file: string, io: CliIo) => {
  const load = (text: string) => proberConfig.load(text, { unknownFields: 'warning', purpose: 'ahead' });
  const { text, settings, lines } = await loadConfigFile(file, io, load);
  const { clusterSource } = parse(text) as { readonly clusterSource?: { readonly kind?: unknown } };
  return { settings, warnings: lines, namesSource: clusterSource?.kind !== undefined };
};

type Loaded = Awaited<ReturnType<typeof loadSettings>>;

/** Returns the settings with the source of the flag if the file sets none. Throws a UsageError if the two contradict each other. */
const withSource = (
  { settings, warnings, namesSource }: Loaded,
  wanted: WorldSource | undefined,
  file: string,
): Pick<Loaded, 'settings' | 'warnings'> => {
  const configured = worldSourceOf(settings);
  if (wanted === undefined || wanted === configured) return { settings, warnings };
  if (namesSource) {
    throw new UsageError(`--source ${wanted} contradicts ${file}, where clusterSource.kind is ${configured}`);
  }
  const warning = `${file}: clusterSource: warning: is not set: a prober with this file uses the Clusters of Gardener, but --source ${wanted} is rehearsed`;
  return { settings: { ...settings, clusterSource: { key: 'kubeconfig' } }, warnings: [...warnings, warning] };
};

/** Runs `dwd rehearse`. */
export const runRehearse: RunRehearse = async (values, io) => {
  const { shoots, nodes, fault, seed, output, duration: durationMs } = values;
  const file = values['config-file'];
  const { settings, warnings } = withSource(await loadSettings(file, io), values.source, file);
  const { values: limits, warnings: limitWarnings } = limitsFrom(values);
  const plan = planRehearsal({ settings, shoots, nodes, fault, durationMs, seed, limits });
  if (!plan.ok) throw new UsageError(plan.error);
  for (const warning of [...limitWarnings, ...warnings]) io.stderr(`${warning}\n`);
  const { progress } = io;
  const rehearsal = await rehearse(plan.value, ({ isProtected, playedMs }) => {
    const how = isProtected ? 'with' : 'without';
    progress?.(`rehearsing ${how} protection: ${formatGoDuration(playedMs)} of ${formatGoDuration(durationMs)}`);
  });
  io.stdout(output === 'table' ? formatRehearsal(rehearsal) : formatDocument(rehearsal, output));
  return rehearsal.isProtected ? 0 : 1;
};
