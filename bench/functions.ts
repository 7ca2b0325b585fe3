// Counts the functions of the prober that run from the cut of a shoot's kubelets to the PATCH of its kube-controller-manager: what its reader has to know.
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { createScenario } from '../simulator/harness/scenario.ts';

const prober = fileURLToPath(new URL('../src/prober/', import.meta.url));

/** Plays one outage, and returns the names of the functions that V8 has called in it, by file. */
const calledInOutage = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
  const scenario = createScenario({ shoots: [{ name: 'a' }] });
  const { clock, world, changes } = scenario;
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  scenario.startProber();
  await clock.advance(60_000);
  // Each call starts the counts anew.
  await session.post('Profiler.takePreciseCoverage');
  world.shoot('a').cutKubelets();
  await clock.runUntil(() => changes.some(({ name }) => name === 'kube-controller-manager'));
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  await scenario.stop();
  const own = result.filter(({ url }) => url.startsWith(`file://${prober}`));
  return new Map(
    own.map(({ url, functions }) => [
      relative(prober, fileURLToPath(url)),
      functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).map(({ functionName }) => functionName || '=>'),
    ]),
  );
};

/** Returns the types that a file declares. */
const typesIn = (file: string): number =>
  readFileSync(`${prober}${file}`, 'utf8').match(/^(?:export )?(?:interface|type) \w+/gm)?.length ?? 0;

const called = [...(await calledInOutage())].filter(([, names]) => names.length > 0);
const sorted = called.toSorted(([, a], [, b]) => b.length - a.length);
const rows = sorted.map(([file, names]) => ({ functions: names.length, types: typesIn(file), file, names }));
const sum = (of: 'functions' | 'types'): string => String(rows.reduce((total, row) => total + row[of], 0));
for (const { file, names } of rows) stdout.write(`${file}: ${names.join(' ')}\n`);
stdout.write(`\n${sum('functions')} functions of ${String(rows.length)} files, which declare ${sum('types')} types\n`);
