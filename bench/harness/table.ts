const markdownTable = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = head.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, index) => (cells[index] ?? '').padEnd(width)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
};

/** A column: its title, and the function that returns the cell of a row. */
export type Column<T> = readonly [title: string, cell: (row: T) => string | number];

/** Builds a Markdown table with padded columns, so that it is readable in a terminal too. */
export const tableOf = <T>(columns: readonly Column<T>[], rows: readonly T[]): string =>
  markdownTable(
    columns.map(([title]) => title),
    rows.map((row) => columns.map(([, cell]) => String(cell(row)))),
  );

/** Formats milliseconds as seconds with two decimals; `-` for undefined and for NaN, the quantile of no values. */
export const inSeconds = (ms = Number.NaN): string => (Number.isNaN(ms) ? '-' : (ms / 1_000).toFixed(2));
/** Formats bytes as megabytes, not mebibytes. */
export const inMegabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);

/** Nearest-rank quantile: the smallest value that at least the fraction `q` of all values does not exceed; NaN if there are no values. */
export const quantile = (values: readonly number[], q: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
};

/** Formats CPU seconds as percent of one processor. */
export const inPercent = (cpuSeconds: number, seconds: number): string =>
  `${((100 * cpuSeconds) / seconds).toFixed(1)} %`;
