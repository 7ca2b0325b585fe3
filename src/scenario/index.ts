export {
  demoPlan,
  demoProberConfig,
  type Finding,
  introduce,
  type Line,
  narrate,
  openStage,
  render,
  tellFindings,
  type Tone,
} from './demo/index.ts';
export { gardenSettings } from './settings.ts';
