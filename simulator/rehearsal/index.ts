export type { FaultName } from './faults.ts';
export { planRehearsal } from './plan.ts';
export { rehearse } from './result.ts';
export { formatRehearsal } from './text.ts';
