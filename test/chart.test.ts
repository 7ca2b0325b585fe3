import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { valuesByKey } from '../src/cli/manifests/values.ts';
import { chartFiles } from '../tools/chart/files.ts';

const folder = fileURLToPath(new URL('../deploy/chart/', import.meta.url));

it('matches the output of tools/chart: run `make chart` after a change', async () => {
  const generated = await chartFiles();
  const committed = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(folder.length).replace(/^\//, ''));
  expect(committed.toSorted()).toEqual(Object.keys(generated).toSorted());
  for (const [path, text] of Object.entries(generated)) expect(readFileSync(folder + path, 'utf8'), path).toBe(text);
});

it('has no placeholder left in a template', async () => {
  for (const [path, text] of Object.entries(await chartFiles())) expect(text, path).not.toMatch(/[\u27e6\u27e7]/);
});

it('has a schema that accepts its defaults and rejects unknown and invalid values', async () => {
  const files = await chartFiles();
  const validate = new Ajv({ allErrors: true, strict: false }).compile(
    JSON.parse(files['values.schema.json'] ?? '') as object,
  );
  const values = parse(files['values.yaml'] ?? '') as Readonly<Record<string, object>>;
  const problemsOf = (changed: object): readonly string[] => {
    void validate({ ...values, ...changed });
    return (validate.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath} ${message}`);
  };
  expect(problemsOf({})).toEqual([]);
  expect(problemsOf({ replica: 3 })).toEqual([' must NOT have additional properties']);
  expect(problemsOf({ prober: { ...values.prober, loglevel: 'info' } })).toHaveLength(1);
  expect(problemsOf({ replicas: 0, namePrefix: 'a'.repeat(41), profile: 'seed' })).toHaveLength(3);
  const actions = (...proberActions: readonly string[]) => ({ policy: { ...values.policy, proberActions } });
  expect(problemsOf(actions('Deny', 'Audit'))).toEqual([]);
  expect(problemsOf(actions('Deny', 'Warn'))).toEqual(['/policy/proberActions must NOT be valid']);
  expect(problemsOf({ weeder: { ...values.weeder, memoryLimitMiB: '512Mi' } })).toHaveLength(1);
});

it('has the values that the documentation lists', () => {
  const rows = Object.entries(valuesByKey).map(
    ([key, { default: fallback, type, description }]) =>
      `| \`${key}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${description}; ${type.takes} |`,
  );
  const table = ['| key | default | |', '| --- | --- | --- |', ...rows].join('\n');
  expect(readFileSync(new URL('../docs/manifests.md', import.meta.url), 'utf8')).toContain(`\n\n${table}\n\n`);
});
