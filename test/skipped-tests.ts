import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Counts skipped tests by the reason that `skippedTitle` puts into the title of their suite. Each test is given with all titles around it. */
export const skippedLines = (skipped: readonly (readonly string[])[]): readonly string[] => {
  const counts = new Map<string, number>();
  for (const titles of skipped) {
    const reason = titles.map((title) => /\[skipped: (.*)\]$/.exec(title)?.[1]).find((found) => found !== undefined);
    if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => `skipped ${count} ${count === 1 ? 'test' : 'tests'}: ${reason}`);
};

const titlesOf = (test: TestCase): readonly string[] => {
  const titles: string[] = [];
  for (let at: TestCase | TestCase['parent'] = test; at.type !== 'module'; at = at.parent) titles.push(at.name);
  return titles;
};

/** The last lines of a run say how many tests were skipped because something is missing, what, and how to get it. */
export const skippedTests: Reporter = {
  onTestRunEnd(modules: readonly TestModule[]) {
    const skipped = modules.flatMap(({ children }) => [...children.allTests('skipped')].map(titlesOf));
    // Other reporters still print after their last await.
    process.once('exit', () =>
      process.stdout.write(
        skippedLines(skipped)
          .map((line) => `${line}\n`)
          .join(''),
      ),
    );
  },
};
