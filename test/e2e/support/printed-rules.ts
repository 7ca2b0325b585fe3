import { expect } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { RbacRule } from '../../envtest/access.ts';
import { startProgram } from './program.ts';

/** The rights that `dwd manifests` prints for a configuration of the prober, in all namespaces, and no others; with `Role` also those in the prober's own. */
export const printedRules = async (
  configFile: string,
  component: 'prober' | 'operator' = 'prober',
  kinds: readonly string[] = ['ClusterRole'],
): Promise<readonly RbacRule[]> => {
  const program = startProgram(['manifests', `--component=${component}`, `--config-file=prober=${configFile}`]);
  expect(await program.ended).toBe(0);
  const objects = parseAllDocuments(program.stdout()).map(
    (document) => document.toJS() as { readonly kind: string; readonly rules: readonly RbacRule[] },
  );
  return objects.flatMap(({ kind, rules }) => (kinds.includes(kind) ? rules : []));
};
