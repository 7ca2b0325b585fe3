export { type ComponentConfig, componentConfig } from './component-config.ts';
export {
  about,
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
  flagOr,
  nonEmptyText,
  time,
  number,
  object,
  oneOf,
  positive,
  resourceRef,
  secretKey,
  secretName,
  secretNameWords,
  show,
} from './fields.ts';
export type { FormerFields } from './former.ts';
export type { LoadedConfig } from './load.ts';
export { componentsOf } from './manifest.ts';
export { type ComponentName, componentNames, typeMeta } from './type-meta.ts';
