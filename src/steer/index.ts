export { type PauseRun, type ResumeRun, type SteerReport, runPause, runResume } from './pause.ts';
export { type ReleaseReport, type ReleaseRun, runRelease } from './release.ts';
