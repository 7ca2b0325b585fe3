import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { careConfig } from '../src/care/config.ts';
import { hasErrors } from '../src/config/rules/problem.ts';
import { configCases, textOf } from '../src/config/testing/mistakes.ts';
import { proberConfig } from '../src/prober/config/config.ts';
import { weederConfig } from '../src/weeder/config.ts';
import { checkMany, mutate, mutations } from './doubles/mutations.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');

const validatorOf = (schema: ReturnType<typeof proberConfig.jsonSchema>) => {
  expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
  const validate = new Ajv2020({ allErrors: true, strict: false }).compile(schema);
  return (value: unknown) => ({ valid: validate(value), errors: validate.errors ?? [] });
};

const strict = { unknownFields: 'error', purpose: 'ahead' } as const;

/** Problems that a schema cannot express: errors in the YAML text, placeholders in braces, numbers that JSON lacks, and rules between fields. */
const beyondSchema =
  /Excessive alias|more than once|the same resource as|has a threshold already|is not served by any|can never be scaled|is beyond|is valid only with kind secret: |is the same resource for|may contain (no placeholders but|only one of)|1e\+300|Infinity|(yes|off) is read as/;

/** Parses a text; undefined if it is not a single YAML document. */
const parsed = (text: string): unknown => {
  try {
    return parse(text, { uniqueKeys: false, merge: true, logLevel: 'error' }) as unknown;
  } catch {
    return undefined;
  }
};

const isManifest = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'ConfigMap';

const casesOf = (kind: 'prober' | 'weeder' | 'care') =>
  configCases(read(`src/config/fixtures/${kind}.txt`))
    .map((one) => ({ ...one, value: parsed(one.text) }))
    // The program treats null as absent, which a schema cannot express.
    .filter(({ value }) => value !== undefined && !isManifest(value) && !JSON.stringify(value).includes('null'))
    .map((one) => [one.name, one] as const);

const expectAgreement = (
  { valid, errors }: { readonly valid: boolean; readonly errors: readonly object[] },
  isValid: boolean,
  problems: readonly string[],
): void => {
  const isException = valid && problems.some((problem) => beyondSchema.test(problem));
  expect(valid === isValid, JSON.stringify(errors)).toBe(!isException);
};

interface Described {
  readonly description?: string;
  readonly default?: unknown;
}

const propertiesOf = (schema: ReturnType<typeof proberConfig.jsonSchema>) =>
  schema.properties as Record<string, Described>;

const defaultsIn = (schema: ReturnType<typeof proberConfig.jsonSchema>) =>
  Object.fromEntries(
    Object.entries(propertiesOf(schema)).flatMap(([name, { default: value }]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );

describe('the JSON Schema of the prober', () => {
  const check = validatorOf(proberConfig.jsonSchema());
  const isValid = (text: string): boolean => !hasErrors(proberConfig.load(text, strict).problems);
  const cases = casesOf('prober');

  it('accepts the example', () => {
    expect(check(parse(read('examples/prober-config.yaml')))).toEqual({ valid: true, errors: [] });
  });

  it('has enough valid and invalid cases', () => {
    const good = cases.filter(([, { text }]) => isValid(text));
    expect(good.length).toBeGreaterThanOrEqual(3);
    expect(cases.length - good.length).toBeGreaterThan(20);
  });

  it.each(cases)('agrees with dwd validate about %s', (_, { text, value, problems }) => {
    expectAgreement(check(value), isValid(text), problems);
  });

  const minimal = {
    kubeConfigSecretName: 'probe',
    dependentResourceInfos: [{ ref: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }, scaleUp: { level: 0 } }],
  };

  const number = fc.tuple(fc.constantFrom('0', '1', '15', '00', '1.5', '.5', '2.', '0.0', '', '.', '-1', '+1', '1e3'));
  const duration = fc
    .array(fc.tuple(number, fc.constantFrom('ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h', '', 'd', 'S')), {
      maxLength: 3,
    })
    .map((terms) => terms.map((term) => term.join('')).join(''));

  it.each(['probeInterval', 'initialDelay'])(
    'agrees about any duration in %s',
    (field) => {
      fc.assert(
        fc.property(duration, (text) => {
          // Go parses -0s and parts of a nanosecond (0.5ns, 0.00015us) as 0, which a pattern cannot express.
          fc.pre(!/^-.*[a-z]|\.\d*ns|\.000\d*[uµμ]s/.test(text));
          const config = { ...minimal, [field]: text };
          expect([text, check(config).valid]).toEqual([text, isValid(JSON.stringify(config))]);
        }),
        { numRuns: 200 },
      );
    },
    60_000,
  );

  it.each([
    [{ probeInterval: 10 }, false],
    [{ probeInterval: 0 }, false],
    [{ initialDelay: 0 }, true],
    [{ initialDelay: '-1s' }, false],
    [{ probeInterval: '1m30s' }, true],
    [{ backoffJitterFactor: -0.1 }, false],
    [{ nodeLeaseFailureFraction: 0 }, false],
    [{ nodeLeaseFailureFraction: 1 }, true],
    [{ nodeLeaseFailureFraction: 1.1 }, false],
    [{ kubeConfigSecretName: 'Probe' }, false],
    [{ kubeConfigSecretName: undefined }, false],
    [{ successThreshold: 1 }, false],
    [{ ProbeInterval: '1s' }, false],
    [{ dependentResourceInfos: [] }, false],
    [{ dependentResourceInfos: [{ ...minimal.dependentResourceInfos[0], scaleUp: undefined }] }, false],
    [{ dependentResourceInfos: [{ ...minimal.dependentResourceInfos[0], scaleUp: { level: 0.5 } }] }, false],
    [{ dependentResourceInfos: [{ ...minimal.dependentResourceInfos[0], scaleUp: { level: 0, replicas: 1 } }] }, false],
  ])('%j: %j, like dwd validate', (change, valid) => {
    const text = JSON.stringify({ ...minimal, ...change });
    expect({ schema: check(JSON.parse(text)).valid, validate: isValid(text) }).toEqual({
      schema: valid,
      validate: valid,
    });
  });

  it('has the defaults that the program fills in', () => {
    const defaults = defaultsIn(proberConfig.jsonSchema());
    expect(defaults).toEqual({
      allowInsecureShoots: false,
      clusterSource: { kind: 'gardener' },
      probeInterval: '10s',
      initialDelay: '30s',
      probeTimeout: '30s',
      backoffJitterFactor: 0.2,
      kcmNodeMonitorGraceDuration: '40s',
      nodeLeaseFailureFraction: 0.6,
      landingTimeout: '1m',
    });
    const load = (config: object) => proberConfig.load(JSON.stringify(config), strict).settings;
    expect(load({ ...minimal, ...defaults })).toEqual(load(minimal));
  });

  it('describes every field of the file', () => {
    for (const { description } of Object.values(propertiesOf(proberConfig.jsonSchema()))) {
      expect(description).toMatch(/\.$/);
    }
  });
});

describe('the JSON Schema of the weeder', () => {
  const check = validatorOf(weederConfig.jsonSchema());
  const isValid = (text: string): boolean => !hasErrors(weederConfig.load(text, strict).problems);
  const cases = casesOf('weeder');

  it('accepts the example', () => {
    expect(check(parse(read('examples/weeder-config.yaml')))).toEqual({ valid: true, errors: [] });
  });

  it('has enough valid and invalid cases', () => {
    const good = cases.filter(([, { text }]) => isValid(text));
    expect(good.length).toBeGreaterThanOrEqual(3);
    expect(cases.length - good.length).toBeGreaterThan(15);
  });

  it.each(cases)('agrees with dwd validate about %s', (_, { text, value, problems }) => {
    expectAgreement(check(value), isValid(text), problems);
  });

  it('agrees with dwd validate about many mutated configurations', () => {
    const whole = parse(textOf(configCases(read('src/config/fixtures/weeder.txt')), 'base')) as unknown;
    const texts = mutations(2)
      .map((changes) => JSON.stringify(mutate(whole, changes)) as string | undefined)
      // The program treats null as absent, which a schema cannot express.
      .filter((text) => text !== undefined && !text.includes('null'));
    const counts = checkMany(
      texts,
      (text = '') => {
        const valid = isValid(text);
        const { valid: found, errors } = check(JSON.parse(text));
        expect([text, found], JSON.stringify(errors)).toEqual([text, valid]);
        return valid ? 'good' : 'bad';
      },
      500,
    );
    expect(counts.get('good')).toBeGreaterThan(20);
    expect(counts.get('bad')).toBeGreaterThan(20);
  });

  it('has the defaults that the program fills in, and describes every field', () => {
    const minimal = {
      servicesAndDependantSelectors: { etcd: { podSelectors: [{ matchLabels: { role: 'apiserver' } }] } },
    };
    const defaults = defaultsIn(weederConfig.jsonSchema());
    expect(defaults).toEqual({ watchDuration: '5m0s' });
    const load = (config: object) => weederConfig.load(JSON.stringify(config), strict).settings;
    expect(load({ ...minimal, ...defaults })).toEqual(load(minimal));
    for (const { description } of Object.values(propertiesOf(weederConfig.jsonSchema()))) {
      expect(description).toMatch(/\.$/);
    }
  });
});

describe('the JSON Schema of care', () => {
  const check = validatorOf(careConfig.jsonSchema());
  const isValid = (text: string): boolean => !hasErrors(careConfig.load(text, strict).problems);
  const cases = casesOf('care');

  it('accepts the example', () => {
    expect(check(parse(read('examples/care-config.yaml')))).toEqual({ valid: true, errors: [] });
  });

  it('has enough valid and invalid cases', () => {
    const good = cases.filter(([, { text }]) => isValid(text));
    expect(good.length).toBeGreaterThanOrEqual(3);
    expect(cases.length - good.length).toBeGreaterThan(15);
  });

  it.each(cases)('agrees with dwd validate about %s', (_, { text, value, problems }) => {
    expectAgreement(check(value), isValid(text), problems);
  });

  it('has the defaults that the program fills in, and describes every field', () => {
    const load = (config: object) => careConfig.load(JSON.stringify(config), strict).settings;
    expect(load(defaultsIn(careConfig.jsonSchema()))).toEqual(load({}));
    expect(Object.keys(defaultsIn(careConfig.jsonSchema())).toSorted()).toEqual([
      'allowInsecureShoots',
      'concurrentSyncs',
      'conditionThresholds',
      'dependants',
      'kubeConfigSecretName',
      'staleExtensionHealthChecks',
      'syncPeriod',
    ]);
    for (const { description } of Object.values(propertiesOf(careConfig.jsonSchema()))) {
      expect(description).toMatch(/\.$/);
    }
  });
});
