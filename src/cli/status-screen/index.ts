export { linesOfChanges } from './changes.ts';
export { type Line, type Paint, line, plural, seconds } from './row.ts';
export { type ScreenEvent, type ScreenInput, statusScreen } from './screen.ts';
export {
  type ComponentStatus,
  type NodeStatus,
  type PodStatus,
  type ShootSnapshot,
  type StatusSnapshot,
  isHeld,
  isUp,
  leaseAges,
  shootIn,
} from './snapshot.ts';
