export { type ComponentConfig, componentConfig } from './component-config.ts';
export {
  about,
  annotationKey,
  allowInsecureShoots,
  anyListOf,
  atLeast,
  boolean,
  duration,
  fraction,
  integer,
  labelKey,
  labelKeyWords,
  labelValue,
  listOf,
  mapOf,
  nonEmptyText,
  number,
  object,
  oneOf,
  positive,
  resourceRef,
  secretKey,
  secretName,
  secretNameWords,
  secretNameTemplate,
  show,
  text,
} from './fields.ts';
export { judgeKind } from './known-kinds.ts';
export type { LoadedConfig } from './load.ts';
export { nearest } from './nearest.ts';
export type { Outline } from './outline.ts';
export { type ConfigProblem, type ConfigFinding, type Path, formatProblem, hasErrors } from './problem.ts';
export { aboutRef, refOf, sameRefTwice } from './ref-rules.ts';
export { type Fields, fieldsOf, itemsOf, repeatedAmong } from './shape.ts';
export { type ComponentName, componentNames, typeMeta } from './type-meta.ts';
