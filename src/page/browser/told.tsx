import { type ComponentChildren, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { formatAge } from '../../kubernetes/api/duration.ts';
import { nextInWords, runbookToShow, stateInWords } from '../../status/state/judge-seed.ts';
import type { ShootStatus } from '../../status/state/schema.ts';
import { clockTime } from '../../status/state/words.ts';
import { splitDo } from './commands.ts';
import { classOf } from './states.ts';

interface TimeProps {
  /** RFC 3339. */
  readonly at: string;
  /** What to show, by default the time of day in UTC. */
  readonly children?: ComponentChildren;
}

/** A time in UTC, as in the terminal, with the reader's own time on hover. */
export const Time = ({ at, children = clockTime(at) }: TimeProps) => (
  <time dateTime={at} title={`${at.slice(0, 19).replace('T', ' ')} UTC, ${new Date(at).toLocaleString()} here`}>
    {children}
  </time>
);

/** Formats the time from `at` (RFC 3339) to `now` (milliseconds since the epoch). */
export const since = (at: string, now: number): string => formatAge(now - Date.parse(at));

export const Since = ({ at, now }: { readonly at: string | undefined; readonly now: number }) =>
  at === undefined ? null : (
    <Time at={at}>
      {since(at, now)} <small>since {clockTime(at)}</small>
    </Time>
  );

export const StateBadge = ({ shoot }: { readonly shoot: ShootStatus }) => (
  <span class={`badge ${classOf(shoot.state)}`}>{stateInWords(shoot)}</span>
);

/** A command with a button that copies it. */
export const Command = ({ line, about }: { readonly line: string; readonly about: string }) => {
  const [isCopied, setIsCopied] = useState(false);
  const copy = (): void =>
    void navigator.clipboard.writeText(line).then(
      () => setIsCopied(true),
      () => setIsCopied(false),
    );
  return (
    <span class="command">
      <code>{line}</code>
      <button type="button" aria-label={`Copy: ${about}`} onClick={copy}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
};

/** Shows why, next and do, in the words of `dwd status`. */
export const Told = ({ shoot, now }: { readonly shoot: ShootStatus; readonly now: number }) => {
  const next = nextInWords(shoot, new Date(now).toISOString());
  const runbook = runbookToShow(shoot);
  return (
    <div class="told">
      <p class="why">{shoot.why}</p>
      {next !== '' && (
        <p>
          <i>next:</i> {next}
        </p>
      )}
      {(shoot.do !== '' || runbook !== undefined) && (
        <p>
          {shoot.do !== '' && <b>do:</b>}{' '}
          {splitDo(shoot.do).map(({ words, line }, index) => (
            <Fragment key={words}>
              {index > 0 && '; '}
              {words} {line !== undefined && <Command line={line} about={words} />}
            </Fragment>
          ))}{' '}
          {runbook !== undefined && <span class="quiet">runbook {runbook}</span>}
        </p>
      )}
    </div>
  );
};
