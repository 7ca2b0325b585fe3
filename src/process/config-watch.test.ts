import { expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { proberConfig } from '../prober/config/config.ts';
import type { ProberSettings } from '../prober/config/settings.ts';
import { createMeter } from '../telemetry/meter.ts';
import { ConfigWatch } from './config-watch.ts';

const path = '/etc/dwd/config.yaml';
const textOf = (fields: string): string => `
kubeConfigSecretName: access
kcmNodeMonitorGraceDuration: 40s
${fields}
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kcm}
    scaleUp: {level: 0}
    scaleDown: {level: 0}
`;
const original = textOf('probeInterval: 10s');
const load = (text: string, inForce?: unknown) => proberConfig.load(text, { unknownFields: 'warning', inForce });

const setUp = async () => {
  const clock = createVirtualClock();
  const logger = createRecordingLogger();
  const meter = createMeter({ processMetrics: false });
  const { settings, given } = load(original);
  if (settings === undefined) throw new Error('the original configuration is not valid');
  const file: { text: string | Error; applies: Promise<boolean> } = { text: original, applies: Promise.resolve(true) };
  const applied: ProberSettings[] = [];
  let reads = 0;
  const watch = new ConfigWatch({
    configFile: path,
    load,
    readFile: async () => {
      reads += 1;
      await clock.sleep(1, new AbortController().signal);
      if (file.text instanceof Error) throw file.text;
      return file.text;
    },
    clock,
    logger,
    meter,
    settings,
    given,
    configWarnings: 0,
    apply: (changed) => {
      applied.push(changed);
      return file.applies;
    },
  });
  const stop = new AbortController();
  const running = watch.run(stop.signal, () => undefined);
  const gauge = async (name: string): Promise<number> =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await meter.metricsText())?.[1]);
  return {
    ...{ clock, logger, file, applied },
    reads: () => reads,
    /** Writes the text to the file and lets the watch read it many times. */
    write: async (text: string | Error): Promise<void> => {
      file.text = text;
      await clock.advance(60_000);
    },
    intervals: () => applied.map(({ probeIntervalMs }) => probeIntervalMs),
    failed: () => gauge('dwd_config_reload_failed'),
    warnings: () => gauge('dwd_config_warnings'),
    stop: async () => {
      stop.abort(new Error('stop'));
      await clock.run(running);
    },
  };
};

it('applies nothing while nothing but comments and written-out defaults change, and once it is stopped', async () => {
  const { write, applied, logger, failed, reads, stop, clock } = await setUp();
  for (const text of [original, `# by hand\n${original}`, `${original}probeTimeout: 30s\n`]) {
    const before = reads();
    await write(text);
    expect(reads()).toBeGreaterThan(before);
  }
  expect([applied, logger.lines, await failed()]).toEqual([[], [], 0]);
  await stop();
  const before = reads();
  await write(textOf('probeInterval: 20s'));
  expect([reads(), applied, clock.pending]).toEqual([before, [], 0]);
});

it('applies each change once, and logs the settings in force', async () => {
  const { write, intervals, logger } = await setUp();
  await write(textOf('probeInterval: 20s'));
  await write(textOf('probeInterval: 30s'));
  await write(original);
  expect(intervals()).toEqual([20_000, 30_000, 10_000]);
  expect(logger.at('info')).toEqual(Array(3).fill('configuration changed'));
  expect(logger.lines[0]?.fields).toMatchObject({ path, configuration: { probeIntervalMs: 20_000 } });
});

it('keeps the old configuration while the file is invalid, logs all problems once with their positions, and recovers', async () => {
  const { write, applied, intervals, logger, failed } = await setUp();
  const invalid = textOf('probeInterval: fast\nnodeLeaseFailureFraction: 3');
  await write(invalid);
  await write(invalid);
  expect(applied).toEqual([]);
  expect(await failed()).toBe(1);
  expect(logger.lines).toHaveLength(1);
  const { level, message, fields } = logger.lines[0] ?? {};
  expect({ level, message }).toEqual({
    level: 'error',
    message: 'configuration not taken over: the old one stays in force',
  });
  expect(fields?.problem).toMatch(
    /config\.yaml:4:\d+: probeInterval: .*; .*config\.yaml:5:\d+: nodeLeaseFailureFraction: /s,
  );
  await write(textOf('probeInterval: 20s'));
  expect(intervals()).toEqual([20_000]);
  expect(await failed()).toBe(0);
});

it('counts a change as failed until it is in force, whatever the file was meanwhile', async () => {
  const { write, file, failed, clock } = await setUp();
  let put: (isInForce: boolean) => void = () => undefined;
  file.applies = new Promise((resolve) => (put = resolve));
  await write(textOf('probeInterval: 20s'));
  await write(textOf('probeInterval: fast'));
  await write(textOf('probeInterval: 20s'));
  expect(await failed()).toBe(1);
  put(true);
  await clock.settle();
  expect(await failed()).toBe(0);
  file.applies = Promise.resolve(false);
  await write(textOf('probeInterval: 30s'));
  expect(await failed()).toBe(1);
});

it('logs another problem, and logs the same one again when it returns', async () => {
  const { write, logger } = await setUp();
  const [first, second] = [textOf('probeInterval: fast'), textOf('probeInterval: -1s')];
  await write(first);
  await write(second);
  await write(first);
  await write(original);
  await write(first);
  expect(logger.at('error')).toHaveLength(4);
});

it('reports no failure, and applies nothing, once the file holds the configuration in force again', async () => {
  const { write, applied, failed, logger } = await setUp();
  await write(textOf('probeInterval: fast'));
  await write(original);
  expect(await failed()).toBe(0);
  await write(new Error('ENOENT: no such file or directory'));
  expect(await failed()).toBe(1);
  await write(original);
  expect(await failed()).toBe(0);
  expect(applied).toEqual([]);
  expect(logger.at('error')).toHaveLength(2);
});

it('counts the warnings of the configuration in force, and logs them once', async () => {
  const { write, logger, warnings, failed } = await setUp();
  expect(await warnings()).toBe(0);
  await write(textOf('probeInterval: 20s\nsurprise: 1\nanother: 2'));
  expect(await warnings()).toBe(2);
  expect(logger.at('warn')).toHaveLength(2);
  await write(textOf('probeInterval: fast'));
  // Warnings of a file that is not in force do not count.
  expect(await warnings()).toBe(2);
  expect(await failed()).toBe(1);
  await write(original);
  expect(await warnings()).toBe(0);
});

const external = (fields: string): string => `externalProbe:\n  ${fields}`;
it.each([
  ['a field', textOf('probeInterval: 5s'), textOf('probeIntervl: 7s'), 'probeIntervl'],
  ['a field (empty)', textOf('probeInterval: 5s'), textOf('probeInterval:'), 'probeInterval'],
  ['a scale-down', original, original.replace('scaleDown:', 'scaleDwon:'), 'dependentResourceInfos[0].scaleDwon'],
  [
    'a level, behind a resource that is new,',
    original.replace('scaleUp: {level: 0}', 'scaleUp: {level: 2}'),
    original
      .replace('scaleUp: {level: 0}', 'scaleUp: {levle: 2}')
      .replace(/ {2}- ref.*/s, (one) => one.replace('kcm', 'mcm').replace('levle', 'level') + one),
    'dependentResourceInfos[1].scaleUp.levle',
  ],
])(
  'applies nothing of a file in which %s is misspelt or empty, until it is corrected',
  async (_what, good, bad, at) => {
    const { write, applied, logger, failed } = await setUp();
    await write(`${good}backoffJitterFactor: 0.3\n`);
    await write(`${bad}backoffJitterFactor: 0.4\n`);
    await write(`${bad}backoffJitterFactor: 0.5\n`);
    expect([applied.length, await failed()]).toEqual([1, 1]);
    const { fields } = logger.lines.find(({ level }) => level === 'error') ?? {};
    expect(fields?.problem).toMatch(/: is an unknown field; did you mean |: is empty: it counts as absent$/);
    expect(fields?.problem).toContain(` ${at}: is `);
    await write(`${good}backoffJitterFactor: 0.6\n`);
    expect(applied[1]).toEqual({ ...applied[0], backoffJitterFactor: 0.6 });
    expect(await failed()).toBe(0);
  },
);

it.each([
  ['the removal of a field', textOf('probeInterval: 5s'), textOf('')],
  [
    'a change beside a second, misspelt one',
    textOf('probeInterval: 5s'),
    textOf('probeInterval: 6s\nprobeIntervl: 5s'),
  ],
  [
    'the replacement of the external probe by an unknown field',
    textOf(external('kubeConfigSecretName: outside')),
    textOf('quarantine: {}'),
  ],
  [
    'the removal of a field if an unknown one with a similar name appears in another place',
    textOf('initialDelay: 5s'),
    original.replace('ref: {', 'ref: {initialDelays: 1, '),
  ],
])('applies %s', async (_what, first, second) => {
  const { write, applied, failed, logger } = await setUp();
  await write(first);
  await write(`${second}backoffJitterFactor: 0.4\n`);
  expect(applied).toHaveLength(2);
  expect(applied[1]).toEqual(load(`${second}backoffJitterFactor: 0.4\n`).settings);
  expect(await failed()).toBe(0);
  expect(logger.at('error')).toEqual([]);
});
