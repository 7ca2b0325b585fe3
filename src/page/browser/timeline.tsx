import { useMemo } from 'preact/hooks';
import { formatAge } from '../../kubernetes/api/duration.ts';
import { isAsUrgentAs, shootStates } from '../../status/state/states.ts';
import { plural } from '../../status/state/words.ts';
import type { PageSample } from '../feed/index.ts';
import { classOf } from './states.ts';
import { Time } from './told.tsx';

const hourMs = 3_600_000;
/** Time that a sample stands for, a little more than that until the next one. */
const sampleMs = 5_500;
/** Number of outages that are listed, the latest ones. */
const mostListed = 5;

/** States that are drawn, the most urgent at the bottom. */
const drawn = shootStates.filter((state) => isAsUrgentAs(state, 'confirming'));

const countUnwell = ({ counts }: PageSample): number => drawn.reduce((sum, state) => sum + (counts[state] ?? 0), 0);

type Margin = NonNullable<PageSample['margin']>;

/** A time in which some shoot was held without a break. */
export interface Outage {
  readonly from: number;
  /** Absent: it continues. */
  readonly to?: number;
  /** Largest number of shoots that were not healthy at once. */
  readonly most: number;
  /** The shortest one. */
  readonly margin: Margin;
}

const isOpen = (outage: Outage | undefined): outage is Outage => outage !== undefined && outage.to === undefined;

export const outagesOf = (samples: readonly PageSample[]): readonly Outage[] =>
  samples.reduce<readonly Outage[]>((outages, sample) => {
    const last = outages.at(-1);
    const { at, margin } = sample;
    if (margin === undefined) return isOpen(last) ? [...outages.slice(0, -1), { ...last, to: at }] : outages;
    if (!isOpen(last)) return [...outages, { from: at, most: countUnwell(sample), margin }];
    const isShorter = margin.ms / margin.graceMs < last.margin.ms / last.margin.graceMs;
    const most = Math.max(last.most, countUnwell(sample));
    return [...outages.slice(0, -1), { ...last, most, margin: isShorter ? margin : last.margin }];
  }, []);

const marginInWords = ({ ms, graceMs }: Margin): string =>
  ms < 0
    ? `scaled down ${formatAge(-ms)} after KCM's grace period of ${formatAge(graceMs)}: nodes may be lost`
    : `scaled down ${formatAge(ms)} before KCM's grace period of ${formatAge(graceMs)} ended`;

const iso = (ms: number): string => new Date(ms).toISOString();

const percent = (share: number): string => `${(100 * Math.max(0, Math.min(1, share))).toFixed(2)}%`;

/** Shoots that were not healthy, stacked by state; under it a dot for each outage: how much of the grace period was left. */
const drawingOf = (samples: readonly PageSample[], outages: readonly Outage[], most: number) => {
  const [knownFrom = 0, to = 0] = [samples[0]?.at, samples.at(-1)?.at];
  const from = to - hourMs;
  const left = (at: number): string => percent((at - from) / hourMs);
  return (
    <div aria-hidden="true">
      <svg viewBox={`0 0 ${String(hourMs)} ${String(most)}`} preserveAspectRatio="none">
        {knownFrom > from && <rect width={knownFrom - from} height={most} />}
        {samples.flatMap(({ at, counts }) => {
          let y = most;
          const rects = drawn.flatMap((state) => {
            const count = counts[state] ?? 0;
            y -= count;
            // A single shoot must be seen, beside hundreds.
            const height = Math.max(count, most / 25);
            const size = { x: at - from, y: y + count - height, height, width: sampleMs };
            return count === 0 ? [] : [<rect key={`${String(at)} ${state}`} class={classOf(state)} {...size} />];
          });
          // The most urgent last, over the others.
          return rects.reverse();
        })}
      </svg>
      <div class="margins">
        {outages.map((outage) => (
          <span
            key={outage.from}
            class={outage.margin.ms < 0 ? 'dot missed' : 'dot'}
            title={marginInWords(outage.margin)}
            style={{ left: left(outage.from), bottom: percent(outage.margin.ms / outage.margin.graceMs) }}
          />
        ))}
      </div>
      <div class="hours">
        {[60, 45, 30, 15, 0].map((minutes) => (
          <span key={minutes}>{iso(to - minutes * 60_000).slice(11, 16)}</span>
        ))}
      </div>
    </div>
  );
};

/** The last hour, or the time since this server started; nothing if all was well. Redraws only after a new sample. */
export const Timeline = ({ samples }: { readonly samples: readonly PageSample[] }) =>
  useMemo(() => {
    const most = Math.max(0, ...samples.map(countUnwell));
    if (most === 0) return null;
    const outages = outagesOf(samples);
    return (
      <section aria-label="The last hour" class="timeline">
        <h2>
          The last hour{' '}
          <small>
            at most {plural(most, 'shoot')} not healthy; known since {iso(samples[0]?.at ?? 0).slice(11, 16)} UTC
          </small>
        </h2>
        {drawingOf(samples, outages, most)}
        <ul>
          {outages.slice(-mostListed).map(({ from, to, margin, most: shoots }) => (
            <li key={from}>
              <Time at={iso(from)} /> to {to === undefined ? 'now' : <Time at={iso(to)} />}: up to{' '}
              {plural(shoots, 'shoot')}; {marginInWords(margin)}
            </li>
          ))}
        </ul>
      </section>
    );
  }, [samples]);
