import { styleText } from 'node:util';
import type { Clock } from '../ports/clock.ts';
import type { SeedStatus, SeenShoot } from '../status/index.ts';
import {
  type Paint,
  type ScreenEvent,
  type ShootSnapshot,
  type StatusSnapshot,
  linesOfChanges,
  statusScreen,
} from './status-screen/index.ts';
import { formatStatus, nextOf, titleOf } from './status-output.ts';
import type { Terminal } from './terminal.ts';

/** Time between two reads of the status, in milliseconds. */
const refreshIntervalMs = 2_000;
/** Limit of events that are kept for the screen. */
const mostEvents = 200;

const colours = { plain: [], good: 'green', bad: 'red', strong: 'bold', dim: 'dim' } as const;
/** Colours text, unless `NO_COLOR` is set, which `styleText` checks. */
const paint: Paint = (tone, text) => (tone === 'plain' ? text : styleText(colours[tone], text));

const shootStatusOf = (shoot: SeenShoot, at: string): ShootSnapshot => {
  const { state, since, reason, candidates, expired, held, leases = [], unmet = false, ignored = [] } = shoot;
  return {
    name: titleOf(shoot),
    state,
    ...(since === undefined ? {} : { since: Date.parse(since) }),
    reason,
    next: nextOf(shoot, at),
    isUnmet: unmet,
    ignored: ignored.map(({ name }) => name),
    counts: { expired, candidates },
    answers: true,
    nodes: leases.map(({ name, renewedAt, counted }) => ({
      name,
      ready: counted ? '' : 'excluded',
      ...(renewedAt === undefined ? {} : { renewedAt: Date.parse(renewedAt) }),
    })),
    components: held.map(({ name, replicas }) => ({
      ...{ name, replicas: 0, readyReplicas: 0, stored: String(replicas) },
      ...{ active: true, ignored: false },
    })),
    ...{ machines: [], pods: [], weeded: [] },
  };
};

/** Converts the status of a seed into a snapshot for the screen. `details` is the status of the shoot that is shown in full. */
const snapshotOfSeed = (status: SeedStatus, details?: SeenShoot): StatusSnapshot => {
  const { at, lease, shoots } = status;
  return {
    at: Date.parse(at),
    leaders: lease?.isFresh === true ? [`${lease.holder} leads`] : [],
    leaseExpiryMs: details?.leaseExpiryMs ?? 0,
    graceMs: details?.graceMs ?? 1,
    shoots: shoots.map((shoot) =>
      shootStatusOf(details?.namespace === shoot.namespace ? { ...details, next: shoot.next } : shoot, at),
    ),
  };
};

/** Distance that the selection moves, by the sequence that the terminal sends for a key: up and down, page up and page down. */
const moves: ReadonlyMap<string, number> = new Map([
  ...['\u001b[A', 'k'].map((key) => [key, -1] as const),
  ...['\u001b[B', 'j'].map((key) => [key, 1] as const),
  ['\u001b[5~', -10],
  ['\u001b[6~', 10],
]);
const quitKeys: ReadonlySet<string> = new Set(['q', '\u0003']);

interface LiveOptions {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  /** Reads the status. `shoot` is the namespace of the shoot whose details are needed. */
  readonly read: (shoot?: string) => Promise<SeedStatus>;
}

/** `dwd status -w` in a terminal: the screen of the demo, on a real seed. */
class LiveStatus {
  readonly #options: LiveOptions;
  readonly #since: number;
  readonly #quit = new AbortController();
  readonly #signal: AbortSignal;
  #events: readonly ScreenEvent[] = [];
  #status: SeedStatus | undefined;
  #details: SeenShoot | undefined;
  /** Namespace of the shoot that is shown in full. */
  #selected: string | undefined;
  #isAboutShown = false;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#since = options.clock.monotonic();
    this.#signal = AbortSignal.any([options.stop, this.#quit.signal]);
  }

  /** Resolves with the exit code of the last status. */
  async run(): Promise<number> {
    const { terminal, clock } = this.#options;
    terminal.take({ onKeys: (input) => this.#onKeys(input), onResize: () => this.#draw() });
    try {
      this.#draw();
      while (!this.#signal.aborted) {
        await this.#refresh();
        this.#draw();
        await clock.sleep(refreshIntervalMs, this.#signal).catch(() => undefined);
      }
    } finally {
      terminal.restore();
    }
    return this.#status?.exitCode ?? 2;
  }

  async #refresh(): Promise<void> {
    const { read, clock } = this.#options;
    const status = await read();
    const [first] = status.shoots;
    this.#selected ??= first?.namespace;
    const shown = this.#selected;
    if (shown !== undefined && status.source === 'leader') {
      const details = await read(shown);
      this.#details = details.shoots.find(({ namespace }) => namespace === shown);
    }
    if (this.#status !== undefined) {
      const at = clock.monotonic() - this.#since;
      const lines = linesOfChanges(snapshotOfSeed(this.#status), snapshotOfSeed(status));
      this.#events = [...this.#events, ...lines.map((line) => ({ at, line }))].slice(-mostEvents);
    }
    this.#status = status;
  }

  #onKeys(input: string): void {
    if (quitKeys.has(input)) this.#quit.abort(new Error('the user quits'));
    else if (input === 'i') this.#isAboutShown = !this.#isAboutShown;
    else this.#move(moves.get(input) ?? 0);
    this.#draw();
  }

  #move(by: number): void {
    const shoots = this.#status?.shoots ?? [];
    const at = shoots.findIndex(({ namespace }) => namespace === this.#selected);
    const next = shoots[Math.min(Math.max(at + by, 0), shoots.length - 1)];
    this.#selected = next?.namespace;
  }

  #draw(): void {
    const { terminal, clock } = this.#options;
    const size = terminal.size();
    const status = this.#status;
    const shoot = status?.shoots.find(({ namespace }) => namespace === this.#selected) ?? status?.shoots[0];
    const name = shoot === undefined ? '' : titleOf(shoot);
    const mustExplain = status !== undefined && (this.#isAboutShown || shoot === undefined);
    const about = mustExplain && formatStatus(status, { all: false, columns: size.columns }).split('\n');
    const lines = statusScreen(
      {
        ...(status === undefined ? {} : { snapshot: snapshotOfSeed(status, this.#details) }),
        title: 'dwd status',
        connection: status?.source === 'objects' ? 'no prober responded (i)' : '',
        openMs: clock.monotonic() - this.#since,
        selected: name,
        notes: new Map([[name, shoot?.reason ?? '']]),
        events: this.#events,
        ...(about === false ? {} : { page: about }),
        keys: 'up/down select  i leader  q quit',
      },
      size,
      paint,
    );
    terminal.draw(lines);
  }
}

export const watchLive = (options: LiveOptions): Promise<number> => new LiveStatus(options).run();
