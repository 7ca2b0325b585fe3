export { judgeKind } from './known-kinds.ts';
export { nearest } from './nearest.ts';
export {
  type ConfigFinding,
  type ConfigProblem,
  type Path,
  type Severity,
  formatPath,
  formatProblem,
  hasErrors,
  sortProblems,
} from './problem.ts';
export { checkRef, refOf, duplicateRefs } from './ref-rules.ts';
export { type Fields, fieldsOf, itemsOf, repeatedAmong } from './shape.ts';
