import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { proberConfig } from '../prober/config/config.ts';
import { type ConfigProblem, hasErrors } from './rules/problem.ts';
import { configCases } from './testing/mistakes.ts';
import { gardenletText } from './testing/texts.ts';

const cases = configCases(readFileSync(fileURLToPath(new URL('fixtures/prober.txt', import.meta.url)), 'utf8'));

const running = { unknownFields: 'warning' } as const;

describe('any text', () => {
  const words = fc.constantFrom(
    ...'kubeConfigSecretName dependentResourceInfos ref scaleUp level data 0 1s &a *a <<'.split(' '),
    ...Array.from(`{}[],"'|>!%#?\t\0`),
    ...[': ', ':\n', '\n', ' ', '  ', '- ', '---\n', 'kind: ConfigMap'],
  );
  const soup = fc.array(words, { maxLength: 60 }).map((parts) => parts.join(''));
  const damaged = fc
    .tuple(fc.constantFrom(gardenletText, ...cases.map(({ text }) => text)), fc.nat(), fc.nat({ max: 20 }), soup)
    .map(([text, at, removed, added]) => {
      const start = at % (text.length + 1);
      return text.slice(0, start) + added + text.slice(start + removed);
    });
  const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), soup, damaged);

  const standsIn = (text: string, { line, column, path, message }: ConfigProblem): boolean => {
    const lines = text.replace(/^\ufeff/, '').split('\n');
    const inFile = line >= 1 && line <= lines.length && column >= 1 && column <= (lines[line - 1]?.length ?? 0) + 2;
    return inFile && path !== '' && message !== '' && !message.includes('\n');
  };

  it('never throws, and every problem has a position in the file', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { settings, problems } = proberConfig.load(text, running);
        expect(settings === undefined).toBe(hasErrors(problems));
        for (const problem of [...problems, ...proberConfig.check(text)]) {
          if (!standsIn(text, problem)) throw new Error(JSON.stringify(problem));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('any valid configuration', () => {
  const name = fc.oneof(
    fc.stringMatching(/^[a-z][a-z0-9-]{0,10}[a-z0-9]$/),
    fc.constantFrom('yes', 'no', 'on', 'off', 'true', 'null'),
  );
  const ms = fc.integer({ min: 1, max: 1e9 });
  const scaleInfo = fc.record({ level: fc.nat(), initialDelayMs: fc.nat(), timeoutMs: ms });
  const resource = fc.record(
    {
      ref: fc.record({ apiVersion: fc.constant('example.com/v1'), kind: name, name: name.map((text) => `my-${text}`) }),
      optional: fc.boolean(),
      scaleUp: scaleInfo,
      scaleDown: scaleInfo,
    },
    { requiredKeys: ['ref', 'optional', 'scaleUp'] },
  );
  const settings = fc.record({
    kubeConfigSecretName: name,
    probeIntervalMs: ms,
    initialDelayMs: fc.nat(),
    probeTimeoutMs: ms,
    backoffJitterFactor: fc.double({ min: 0, max: 10, noNaN: true }).map((value) => value + 0),
    nodeMonitorGraceMs: ms,
    nodeLeaseFailureFraction: fc.double({ min: 0, max: 1, minExcluded: true, noNaN: true }),
    allSilentAfterMs: fc.nat(),
    landingTimeoutMs: fc.nat(),
    dependentResources: fc.uniqueArray(resource, {
      minLength: 1,
      maxLength: 5,
      selector: ({ ref }) => JSON.stringify([ref.apiVersion, ref.kind, ref.name]),
    }),
  });

  const writeScale = (info: { level: number; initialDelayMs: number; timeoutMs: number }) => ({
    level: info.level,
    initialDelay: `${info.initialDelayMs}ms`,
    timeout: `${info.timeoutMs}ms`,
  });

  /** The configuration is read as YAML 1.1, as the Go program does: there, an unquoted `no` is not text. */
  const writeYaml = (value: unknown): string => stringify(value, { version: '1.1' });

  it('is read with the values that were written', () => {
    fc.assert(
      fc.property(settings, fc.constantFrom(writeYaml, JSON.stringify), (wanted, write) => {
        const text = write({
          kubeConfigSecretName: wanted.kubeConfigSecretName,
          probeInterval: `${wanted.probeIntervalMs}ms`,
          initialDelay: `${wanted.initialDelayMs}ms`,
          probeTimeout: `${wanted.probeTimeoutMs}ms`,
          backoffJitterFactor: wanted.backoffJitterFactor,
          kcmNodeMonitorGraceDuration: `${wanted.nodeMonitorGraceMs}ms`,
          nodeLeaseFailureFraction: wanted.nodeLeaseFailureFraction,
          allSilentAfter: `${wanted.allSilentAfterMs}ms`,
          landingTimeout: `${wanted.landingTimeoutMs}ms`,
          dependentResourceInfos: wanted.dependentResources.map(({ ref, optional, scaleUp, scaleDown }) => ({
            ref,
            optional,
            scaleUp: writeScale(scaleUp),
            ...(scaleDown === undefined ? {} : { scaleDown: writeScale(scaleDown) }),
          })),
        });
        const { settings, problems } = proberConfig.load(text, running);
        expect({ settings, problems }).toEqual({ settings: wanted, problems: [] });
      }),
    );
  });
});
