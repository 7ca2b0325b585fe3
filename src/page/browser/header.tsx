import type { ComponentChildren } from 'preact';
import { type Seed, oldness, serverTime } from './feed.ts';
import { clockTime, duration, since } from './times.ts';

/** Number of probe intervals without an ended round after which a warning is shown. */
const latestRounds = 3;

const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div class="fact">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const Facts = ({ seed, now }: { readonly seed: Seed; readonly now: number }) => {
  const { status } = seed.view;
  const at = serverTime(seed, now);
  return (
    <dl class="facts">
      <Fact name={status.leads ? 'leader' : 'replica'}>
        {status.identity}
        {status.leadsSince !== undefined && `, for ${since(status.leadsSince, at)}`}
      </Fact>
      <Fact name="last probe round">
        {status.lastRoundEndedAt === undefined ? 'none yet' : `${since(status.lastRoundEndedAt, at)} ago`}
      </Fact>
      <Fact name="version">{status.version}</Fact>
      <Fact name="configuration">{status.configHash}</Fact>
    </dl>
  );
};

const warningsOf = (seed: Seed, now: number): readonly string[] => {
  const { status, origin } = seed.view;
  const at = serverTime(seed, now);
  const round = at - Date.parse(status.lastRoundEndedAt ?? '');
  const { paused } = status;
  const end = paused?.until === undefined ? '' : ` until ${clockTime(paused.until)}`;
  return [
    ...(origin.of === 'standby'
      ? [`This replica does not lead: the page shows its own view, not the leader's. ${origin.problem ?? ''}`]
      : []),
    ...(round > latestRounds * status.probeIntervalMs ? [`No probe round has ended for ${duration(round)}.`] : []),
    ...(paused === null ? [] : [`All shoots are paused${end} by ${paused.by}: ${paused.reason}`]),
    ...(status.dryRun ? ['Dry run: nothing is written.'] : []),
    ...status.missingRights.map((right) => `A right is missing: ${right}`),
  ];
};

/** Shows in one word that the page is live, and in a sentence if it is not. */
const Freshness = ({ seed, now }: { readonly seed: Seed; readonly now: number }) => {
  const oldMs = oldness(seed, now);
  const { at } = seed.view.status;
  return (
    <p class={oldMs === undefined ? 'fresh' : 'fresh old'} role="status">
      {oldMs === undefined ? 'Live' : `Old: no response since ${clockTime(at)}. Reconnecting.`}
    </p>
  );
};

export const Header = ({ seed, now }: { readonly seed: Seed; readonly now: number }) => (
  <header>
    <div class="title">
      <h1>dependency-watchdog</h1>
      <Freshness seed={seed} now={now} />
      {oldness(seed, now) !== undefined && <p class="age">This data is {duration(now - seed.receivedAt)} old.</p>}
    </div>
    <Facts seed={seed} now={now} />
    <ul class="warnings" aria-label="Warnings">
      {warningsOf(seed, now).map((warning) => (
        <li key={warning}>{warning}</li>
      ))}
    </ul>
  </header>
);
