import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import { judgeKind } from './known-kinds.ts';
import { nearest } from './nearest.ts';
import type { ConfigFinding, Path } from './problem.ts';
import { fieldsOf, repeatedAmong } from './shape.ts';

/** Undefined while a part is missing or no text: then that is the problem to tell. */
export const refOf = (resource: unknown): ResourceRef | undefined => {
  const { apiVersion, kind, name } = fieldsOf(fieldsOf(resource).ref);
  const complete = typeof apiVersion === 'string' && typeof kind === 'string' && typeof name === 'string';
  return complete ? { apiVersion, kind, name } : undefined;
};

/** `field`: of the list, at the root of the document. */
export const sameRefTwice = (resources: readonly unknown[], field: string): readonly ConfigFinding[] => {
  const refs = resources.map(refOf);
  return repeatedAmong(refs.map((ref) => ref && refKey(ref))).map(({ index, first, key }) => ({
    path: [field, index, 'ref'],
    message: `is the same resource as in ${field}[${first}] (${key}); list each only once`,
    severity: 'error',
  }));
};

/** What Gardener calls the controllers that do harm in an outage. */
const harmful = ['kube-controller-manager', 'machine-controller-manager', 'cluster-autoscaler'];

/**
 * A kind that no seed can scale protects nothing: an error where a configuration is judged before it is used, and a warning where it runs,
 * because the other resources must be protected all the same.
 */
export const aboutRef = (resource: unknown, path: Path): readonly ConfigFinding[] => {
  const ref = refOf(resource);
  if (ref === undefined || Object.values(ref).includes('')) return [];
  const judgement = judgeKind(ref);
  const meant = harmful.includes(ref.name) || ref.name.includes('{{') ? undefined : nearest(ref.name, harmful);
  const findings: ConfigFinding[] = [];
  const at = [...path, 'ref', 'kind'];
  // On one line, whatever they hold.
  const named = JSON.stringify(`${ref.kind} of ${ref.apiVersion}`).slice(1, -1);
  if (judgement.kind === 'wrong') {
    findings.push({ path: at, message: `${named} ${judgement.problem}`, severity: 'error', whenRunning: 'warning' });
  } else if (judgement.kind === 'unknown') {
    const message = `${named} is not known here: it protects nothing unless the seed serves this kind with a scale subresource`;
    findings.push({ path: at, message, severity: 'warning', whenRunning: 'silent' });
  }
  if (meant !== undefined) {
    const message = `is not a name that Gardener uses; did you mean ${meant}?`;
    findings.push({ path: [...path, 'ref', 'name'], message, severity: 'warning' });
  }
  return findings;
};
