import { ApiError } from '../../../src/kubernetes/api/errors.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { type Act, perform } from '../acts.ts';
import { line } from '../line.ts';
import { type Watched, observe } from '../observe.ts';
import { twinName } from '../setting.ts';
import type { Backdrop } from './backdrop.ts';
import { commandFor, keysIn, obey } from './keys.ts';
import type { Row } from './row.ts';
import { renderScreen } from './screen.ts';
import { type LiveState, addHappenings, beginLive, takeSnapshot, takeVerdict } from './state.ts';
import { readVerdict } from './verdicts.ts';

/** The terminal, as far as the demo needs it. */
export interface LiveScreen {
  size(): { readonly columns: number; readonly rows: number };
  draw(rows: readonly Row[]): void;
  /** `onKeys` gets what the terminal sends. Called once. */
  listen(listeners: { readonly onKeys: (input: string) => void; readonly onResize: () => void }): void;
}

export interface LiveOptions {
  readonly watched: Watched;
  readonly backdrop: Backdrop;
  readonly screen: LiveScreen;
  readonly clock: Clock;
  /** Monotonic time when the demo began. */
  readonly since: number;
  /** Lines that the prober has logged since it was asked last. */
  readonly readProberLog: () => readonly string[];
  readonly signal: AbortSignal;
}

const lookEveryMs = 250;
const requestTimeoutMs = 5_000;

/** Everything that changes while the demo runs. */
interface Session {
  readonly options: LiveOptions;
  state: LiveState;
  /** Aborts when the user has seen enough, too. */
  readonly signal: AbortSignal;
  readonly quit: () => void;
}

const elapsed = ({ options: { clock, since } }: Session): number => clock.monotonic() - since;

const draw = (session: Session): void => {
  if (session.signal.aborted) return;
  const { screen, backdrop } = session.options;
  screen.draw(renderScreen(session.state, backdrop, { ...screen.size(), at: elapsed(session) }));
};

/** Requests that fail are told on the screen: the user may have broken what they need. */
const tellFailure = (session: Session, error: unknown): void => {
  if (session.signal.aborted) return;
  if (!(error instanceof ApiError)) throw error;
  const told = line(`no answer: ${error.message}`, '', 'bad');
  session.state = addHappenings(session.state, elapsed(session), [told]);
};

const act = async ({ options: { watched }, signal }: Session, acts: readonly Act[]): Promise<void> => {
  for (const deed of acts) {
    const namespace = watched.shoots.find(({ name }) => name === deed.shoot)?.namespace ?? '';
    await watched.seed.call(perform(deed, namespace), { signal, timeoutMs: requestTimeoutMs });
  }
};

const onKeys = (session: Session, input: string): void => {
  for (const key of keysIn(input)) {
    const command = commandFor(key, session.state);
    if (command === undefined) continue;
    if (command.kind === 'quit') session.quit();
    if (command.kind === 'act') act(session, command.acts).catch((error: unknown) => tellFailure(session, error));
    session.state = obey(session.state, command);
  }
  draw(session);
};

const readVerdicts = (session: Session): void => {
  const { watched, readProberLog } = session.options;
  for (const text of readProberLog()) {
    const said = readVerdict(text);
    const shoot = watched.shoots.find(({ namespace }) => namespace === said?.namespace)?.name;
    if (said === undefined || shoot === undefined) continue;
    session.state = takeVerdict(session.state, elapsed(session), { shoot, verdict: said.verdict });
  }
};

const look = async (session: Session): Promise<void> => {
  const { watched, clock, since } = session.options;
  try {
    const snapshot = await observe(watched, { clock, since, signal: session.signal });
    session.state = takeSnapshot(session.state, snapshot);
  } catch (error) {
    tellFailure(session, error);
  }
};

/** Shows the world and does to it what the user's keys say, until one of them says that it is enough. Rejects with `signal.reason`. */
export const runLive = async (options: LiveOptions): Promise<void> => {
  const { watched, screen, clock } = options;
  const names = watched.shoots.map(({ name }) => name);
  const enough = new AbortController();
  const signal = AbortSignal.any([options.signal, enough.signal]);
  const quit = (): void => enough.abort(new Error('the user has seen enough'));
  const session: Session = { options, state: beginLive(names, twinName), signal, quit };
  screen.listen({ onKeys: (input) => onKeys(session, input), onResize: () => draw(session) });
  draw(session);
  try {
    while (true) {
      await look(session);
      readVerdicts(session);
      draw(session);
      await clock.sleep(lookEveryMs, signal);
    }
  } catch (error) {
    if (!enough.signal.aborted) throw error;
  }
};
