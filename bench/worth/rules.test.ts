import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { expect, it } from 'vitest';
import { applyPatches, rules } from './rules.ts';

it.each(rules)('the rules that `make worth` switches off $name fits the code', (rule) => {
  for (const file of new Set(rule.patches.map((patch) => patch.file))) {
    const source = readFileSync(new URL(`../../src/prober/${file}`, import.meta.url), 'utf8');
    const patched = applyPatches(rule, file, source);
    expect(patched).not.toBe(source);
    expect(() => stripTypeScriptTypes(patched)).not.toThrow();
  }
});
