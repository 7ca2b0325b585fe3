import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { PageSample } from '../feed/index.ts';
import { clockTime } from './times.ts';

interface Series {
  readonly title: string;
  readonly read: (sample: PageSample) => number | null;
  readonly inWords: (value: number) => string;
}

const series: readonly Series[] = [
  { title: 'Shoots held', read: ({ held }) => held, inWords: String },
  {
    title: 'Expired leases',
    read: ({ expiredShare }) => expiredShare * 100,
    inWords: (share) => `${Math.round(share)} %`,
  },
  {
    title: "Margin to KCM's grace",
    read: ({ marginMs }) => (marginMs === null ? null : marginMs / 1_000),
    inWords: (seconds) => `${seconds.toFixed(1)} s`,
  },
];

const heightPx = 96;
const hourS = 3_600;
const wholeSteps = [1, 2, 5].flatMap((step) => [1, 10, 100, 1_000].map((ten) => step * ten)).sort((a, b) => a - b);

/** Returns the options of a chart, with the colours of the style sheet. */
const plotOptions = (width: number, { inWords }: Series, host: Element): uPlot.Options => {
  const style = getComputedStyle(host);
  const [ink, grid, accent] = ['--quiet', '--line', '--accent'].map((name) => style.getPropertyValue(name).trim());
  const axis = {
    stroke: ink ?? '',
    grid: { stroke: grid ?? '', width: 1 },
    ticks: { show: false },
    font: '11px sans-serif',
  };
  return {
    width,
    height: heightPx,
    legend: { show: false },
    cursor: { show: false },
    // Always shows a whole hour, even with few samples.
    scales: {
      x: { range: (_plot, _min, max) => [max - hourS, max] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.1)] },
    },
    axes: [
      {
        ...axis,
        size: 22,
        values: (_plot, times) => times.map((time) => clockTime(new Date(time * 1_000)).slice(0, 5)),
      },
      { ...axis, size: 44, values: (_plot, values) => values.map(inWords), space: 28, incrs: wholeSteps },
    ],
    series: [{}, { stroke: accent ?? '', width: 2, points: { show: false }, spanGaps: false }],
  };
};

const dataOf = (samples: readonly PageSample[], read: Series['read']): uPlot.AlignedData => [
  samples.map(({ at }) => at / 1_000),
  samples.map(read),
];

const summary = (samples: readonly PageSample[], { read, inWords }: Series): string => {
  const values = samples.flatMap((sample) => read(sample) ?? []);
  const last = values.at(-1);
  if (last === undefined) return 'none';
  return `${inWords(last)} now, ${inWords(Math.min(...values))} to ${inWords(Math.max(...values))}`;
};

interface ChartProps {
  readonly samples: readonly PageSample[];
  readonly of: Series;
}

const Chart = ({ samples, of }: ChartProps) => {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(plotOptions(element.clientWidth, of, element), dataOf(samples, of.read), element);
    };
    draw();
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: heightPx }));
    resized.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    return () => {
      resized.disconnect();
      scheme.removeEventListener('change', draw);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [of]);
  useEffect(() => plot.current?.setData(dataOf(samples, of.read)), [samples, of]);
  return (
    <figure>
      <figcaption>
        <b>{of.title}</b> {summary(samples, of)}
      </figcaption>
      <div ref={host} aria-hidden="true" />
    </figure>
  );
};

/** Charts of the last hour, or of the time since this server started. */
export const Charts = ({ samples }: { readonly samples: readonly PageSample[] }) => (
  <section aria-label="The last hour" class="charts">
    {series.map((one) => (
      <Chart key={one.title} samples={samples} of={one} />
    ))}
  </section>
);
