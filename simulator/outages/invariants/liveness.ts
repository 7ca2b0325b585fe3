import { hinderedUntil } from '../model.ts';
import { stateful, stateless } from './invariant.ts';

/** Time after faults for back-off, elections, lists, releases that come first, and the initial delay of a new shoot. */
const settleMs = 120_000;
const marginMs = 20_000;

/** A shoot that can be probed is probed again and again. */
export const keepsProbing = stateless('keeps probing', (event, { model, views, rules }) => {
  if (event.kind !== 'tick') return undefined;
  for (const [name, { phase, phaseSince }] of model.shoots) {
    if (phase !== 'run' || model.at - Math.max(phaseSince, hinderedUntil(model, name)) < settleMs) continue;
    const observedTimes = [...views]
      .filter(([key]) => key.endsWith(`/${name}`))
      .map(([, { observedAt }]) => observedAt);
    const latest = Math.max(0, ...observedTimes);
    if (model.at - latest > rules.intervalMs + marginMs) {
      return `${name}: nobody has probed it for ${((model.at - latest) / 1_000).toFixed(0)} s`;
    }
  }
  return undefined;
});

interface Window {
  readonly from: number;
  readonly count: number;
}

const windowMs = 10_000;
const mostInWindow = 120;

/** Failures do not cause a hot loop of requests. */
export const noStorm = stateful<ReadonlyMap<string, Window>>('no storm of requests', new Map(), (windows, event) => {
  if (event.kind !== 'request' || event.stage !== 'sent') return { state: windows };
  const { process, server } = event.exchange;
  const key = `${process}/${server}`;
  const known = windows.get(key);
  const isOpen = known !== undefined && event.at - known.from < windowMs;
  const window = isOpen ? { ...known, count: known.count + 1 } : { from: event.at, count: 1 };
  const problem =
    window.count > mostInWindow
      ? `process ${process} sent ${String(window.count)} requests to ${server} within 10 s`
      : undefined;
  return { state: new Map(windows).set(key, window), problem };
});
