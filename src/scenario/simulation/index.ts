export { generatePlan } from './generate.ts';
export type { Plan } from './plan.ts';
export { type Run, runPlan } from './run.ts';
export { shrink } from './shrink.ts';
export { tellFailure, tellPlan, tellTrace } from './tell.ts';
