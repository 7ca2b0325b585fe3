import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import { judgeKind } from './known-kinds.ts';
import { nearest } from './nearest.ts';
import type { ConfigFinding, Path } from './problem.ts';
import { fieldsOf, repeatedAmong } from './shape.ts';

/** Returns the `ref` of a resource; undefined if a part is missing or is not text, which the schema reports. */
export const refOf = (resource: unknown): ResourceRef | undefined => {
  const { apiVersion, kind, name } = fieldsOf(fieldsOf(resource).ref);
  const complete = typeof apiVersion === 'string' && typeof kind === 'string' && typeof name === 'string';
  return complete ? { apiVersion, kind, name } : undefined;
};

/** Finds resources that are listed twice. `field` is the name of the list at the root of the document. */
export const duplicateRefs = (resources: readonly unknown[], field: string): readonly ConfigFinding[] => {
  const refs = resources.map(refOf);
  return repeatedAmong(refs.map((ref) => ref && refKey(ref))).map(({ index, first, key }) => ({
    path: [field, index, 'ref'],
    message: `is the same resource as in ${field}[${first}] (${key}); list each only once`,
    severity: 'error',
  }));
};

/** Gardener's names of the controllers that do harm in an outage. */
const harmful = ['kube-controller-manager', 'machine-controller-manager', 'cluster-autoscaler'];

/**
 * Checks the kind and the name of a reference. A kind that no seed can scale protects nothing: this is an error before a configuration is used,
 * but only a warning in a running component, which must still protect the other resources.
 */
export const checkRef = (resource: unknown, path: Path): readonly ConfigFinding[] => {
  const ref = refOf(resource);
  if (ref === undefined || Object.values(ref).includes('')) return [];
  const judgement = judgeKind(ref);
  const meant = harmful.includes(ref.name) || ref.name.includes('{{') ? undefined : nearest(ref.name, harmful);
  const findings: ConfigFinding[] = [];
  const at = [...path, 'ref', 'kind'];
  // JSON escapes line breaks: a message must fit on one line.
  const named = JSON.stringify(`${ref.kind} of ${ref.apiVersion}`).slice(1, -1);
  if (judgement.kind === 'wrong') {
    findings.push({ path: at, message: `${named} ${judgement.problem}`, severity: 'error', whenRunning: 'warning' });
  } else if (judgement.kind === 'unknown') {
    const message = `${named} is not a kind that dwd knows: it protects nothing unless the seed serves this kind with a scale subresource`;
    findings.push({ path: at, message, severity: 'warning', whenRunning: 'silent' });
  }
  if (meant !== undefined) {
    const message = `is not a name that Gardener uses; did you mean ${meant}?`;
    findings.push({ path: [...path, 'ref', 'name'], message, severity: 'warning' });
  }
  return findings;
};
