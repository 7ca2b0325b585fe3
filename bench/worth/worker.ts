// Plays plans with one rule switched off. Arguments: the rule, or `none`, n to play every n-th plan, and the names of the scenarios.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { argv } from 'node:process';
import type { Outcome } from './outcome.ts';
import { applyPatches, rules } from './rules.ts';

/** Outcomes of all plans, by the name of their scenario. */
export type Outcomes = Readonly<Record<string, readonly Outcome[]>>;

const [off = '', every = '1', ...names] = argv.slice(2);
const rule = rules.find(({ name }) => name === off);
const prober = new URL('../../src/prober/', import.meta.url).href;

if (rule !== undefined) {
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      if (!url.startsWith(prober)) return loaded;
      return { ...loaded, source: applyPatches(rule, url.slice(prober.length), readFileSync(new URL(url), 'utf8')) };
    },
  });
}

// Loads the prober, so only after the hook is registered.
const { scenarios } = await import('./scenarios.ts');
const { outcomeOf } = await import('./outcome.ts');

const outcomes: Record<string, Outcome[]> = {};
for (const { name, plans } of scenarios) {
  if (!names.includes(name)) continue;
  const played: Outcome[] = [];
  for (const [index, plan] of plans.entries()) if (index % Number(every) === 0) played.push(await outcomeOf(plan));
  outcomes[name] = played;
}
process.send?.(outcomes satisfies Outcomes);
process.disconnect();
