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
const strict = { unknownFields: 'error', purpose: 'ahead' } as const;

type Schema = ReturnType<typeof proberConfig.jsonSchema>;

interface Component {
  readonly name: 'prober' | 'weeder' | 'care';
  readonly config: {
    jsonSchema(): Schema;
    load(
      text: string,
      options: typeof strict,
    ): ReturnType<typeof proberConfig.load> | ReturnType<typeof careConfig.load> | ReturnType<typeof weederConfig.load>;
  };
  /** The smallest valid configuration. */
  readonly minimal: object;
  readonly defaults: object;
}

const minimalProber = {
  kubeConfigSecretName: 'probe',
  dependentResourceInfos: [{ ref: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }, scaleUp: { level: 0 } }],
};

const components: readonly Component[] = [
  {
    name: 'prober',
    config: proberConfig,
    minimal: minimalProber,
    defaults: {
      allowInsecureShoots: false,
      clusterSource: { kind: 'gardener' },
      probeInterval: '10s',
      initialDelay: '30s',
      probeTimeout: '30s',
      backoffJitterFactor: 0.2,
      kcmNodeMonitorGraceDuration: '40s',
      nodeLeaseFailureFraction: 0.6,
      landingTimeout: '1m',
    },
  },
  {
    name: 'weeder',
    config: weederConfig,
    minimal: { servicesAndDependantSelectors: { etcd: { podSelectors: [{ matchLabels: { role: 'apiserver' } }] } } },
    defaults: { watchDuration: '5m0s' },
  },
  {
    name: 'care',
    config: careConfig,
    minimal: {},
    defaults: {
      allowInsecureShoots: false,
      concurrentSyncs: expect.any(Number) as unknown,
      conditionThresholds: expect.any(Object) as unknown,
      dependants: expect.any(Object) as unknown,
      kubeConfigSecretName: expect.any(String) as unknown,
      staleExtensionHealthChecks: expect.any(Object) as unknown,
      syncPeriod: expect.any(String) as unknown,
    },
  },
];

const judgesOf = ({ config }: Pick<Component, 'config'>) => {
  const validate = new Ajv2020({ allErrors: true, strict: false }).compile(config.jsonSchema());
  return {
    check: (value: unknown) => ({ valid: validate(value), errors: validate.errors ?? [] }),
    isValid: (text: string): boolean => !hasErrors(config.load(text, strict).problems),
  };
};

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

describe.each(components)('the JSON Schema of $name', ({ name, config, minimal, defaults }) => {
  const { check, isValid } = judgesOf({ config });
  const schema = config.jsonSchema();
  const properties = Object.entries(
    schema.properties as Record<string, { readonly description?: string; readonly default?: unknown }>,
  );
  const cases = configCases(read(`src/config/fixtures/${name}.txt`))
    .map((one) => ({ ...one, value: parsed(one.text) }))
    // The program treats null as absent, which a schema cannot express.
    .filter(({ value }) => value !== undefined && !isManifest(value) && !JSON.stringify(value).includes('null'));

  it('is of the draft 2020-12, and accepts the example', () => {
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(check(parse(read(`examples/${name}-config.yaml`)))).toEqual({ valid: true, errors: [] });
  });

  it('has enough valid and invalid cases', () => {
    const good = cases.filter(({ text }) => isValid(text));
    expect(good.length).toBeGreaterThanOrEqual(3);
    expect(cases.length - good.length).toBeGreaterThan(15);
  });

  it.each(cases)('agrees with dwd validate about $name', ({ text, value, problems }) => {
    const { valid, errors } = check(value);
    const isException = valid && problems.some((problem) => beyondSchema.test(problem));
    expect(valid === isValid(text), JSON.stringify(errors)).toBe(!isException);
  });

  it('has the defaults that the program fills in, and describes every field', () => {
    const found = properties.flatMap(([key, { default: value }]) =>
      value === undefined ? [] : [[key, value] as const],
    );
    expect(Object.fromEntries(found)).toEqual(defaults);
    const load = (value: object) => config.load(JSON.stringify(value), strict).settings;
    expect(load({ ...minimal, ...Object.fromEntries(found) })).toEqual(load(minimal));
    for (const [, { description }] of properties) expect(description).toMatch(/\.$/);
  });
});

describe('the JSON Schema of the prober', () => {
  const { check, isValid } = judgesOf({ config: proberConfig });
  const number = fc.tuple(fc.constantFrom('0', '1', '15', '00', '1.5', '.5', '2.', '0.0', '', '.', '-1', '+1', '1e3'));
  const duration = fc
    .array(fc.tuple(number, fc.constantFrom('ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h', '', 'd', 'S')), {
      maxLength: 3,
    })
    .map((terms) => terms.map((term) => term.join('')).join(''));

  it.each(['probeInterval', 'initialDelay'])('agrees about any duration in %s', { timeout: 60_000 }, (field) => {
    fc.assert(
      fc.property(duration, (text) => {
        // Go parses -0s and parts of a nanosecond (0.5ns, 0.00015us) as 0, which a pattern cannot express.
        fc.pre(!/^-.*[a-z]|\.\d*ns|\.000\d*[uµμ]s/.test(text));
        const given = { ...minimalProber, [field]: text };
        expect([text, check(given).valid]).toEqual([text, isValid(JSON.stringify(given))]);
      }),
      { numRuns: 200 },
    );
  });
});

it('the JSON Schema of the weeder agrees with dwd validate about many mutated configurations', () => {
  const { check, isValid } = judgesOf({ config: weederConfig });
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
