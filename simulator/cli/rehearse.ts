import { formatDocument, limitsFrom, loadConfigFile, type RunRehearse, UsageError } from '../../src/cli/index.ts';
import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import { proberConfig } from '../../src/prober/index.ts';
import { planRehearsal, rehearse, formatRehearsal } from '../rehearsal/index.ts';

/** Runs `dwd rehearse`. */
export const runRehearse: RunRehearse = async (values, io) => {
  const { shoots, nodes, fault, seed, output, duration: durationMs } = values;
  const load = (text: string) => proberConfig.load(text, { unknownFields: 'warning', purpose: 'closely' });
  const { settings, lines: warnings } = await loadConfigFile(values['config-file'], io, load);
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
