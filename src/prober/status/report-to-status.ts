import { effectOf } from '../plan/patch-plan.ts';
import type { ProberReport } from '../report.ts';
import type { ReceivedResponse } from '../report/scaling.ts';
import type { StatusRecorder } from './status-recorder.ts';
import type { Scaled } from './shoot-record.ts';

/** Returns the rest of KCM's grace period after a scale-down that has just been written, in milliseconds. */
const marginOf = ({ action, outcome, graceDeadline, now }: ReceivedResponse): number | undefined => {
  const isScaledDown = action.kind === 'write' && effectOf(action.write) === 'down' && outcome.result.ok;
  return isScaledDown && graceDeadline !== undefined ? graceDeadline.graceEndsAt - now : undefined;
};

/** Returns a write that the API server accepted. Leaves out a write that only stores the former count, because the write of the count itself follows. */
const scaledOf = ({ flow, action, outcome, ref }: ReceivedResponse): Scaled | undefined => {
  if (action.kind !== 'write' || !outcome.result.ok || ref === undefined) return undefined;
  const { base, replicas } = action.write;
  const resource = { kind: ref.kind, name: ref.name };
  if (replicas === undefined && flow.direction === 'down') return undefined;
  return { resource, from: base.specReplicas, to: replicas };
};

/** Wraps a report so that it also updates the recorded status. */
export const reportToStatus = (report: ProberReport, recorder: StatusRecorder): ProberReport => ({
  ...report,
  runEnded: (namespace, run) => {
    report.runEnded(namespace, run);
    recorder.runEnded(namespace, run.result.decision);
  },
  responseReceived: (namespace, answer) => {
    report.responseReceived(namespace, answer);
    const margin = marginOf(answer);
    if (margin !== undefined) recorder.scaledDown(namespace, margin);
    const scaled = scaledOf(answer);
    if (scaled !== undefined) recorder.wrote(namespace, scaled);
  },
  forget: (namespace) => {
    report.forget(namespace);
    recorder.forget(namespace);
  },
});
