import type { Logger } from '../ports/logger.ts';
import type { ReadyCheck } from './endpoints.ts';
import { type Runnable, whenAborted } from './lifecycle.ts';

/** A component under one configuration: its watches and its controller. A change of the configuration creates a new one. */
export interface ConfiguredComponent<Settings, Memory> {
  readonly settings: Settings;
  /** Starts the watches. Resolves when the caches that `work` needs are filled. */
  sync(): Promise<void>;
  /**
   * Works until `signal` aborts and all work in progress has ended. Resolves with the state for its successor. `memory` is the state
   * of its predecessor, if there was one.
   */
  work(memory: Memory | undefined, signal: AbortSignal): Promise<Memory>;
  checks(): readonly ReadyCheck[];
  /** Stops the watches. */
  close(): Promise<void>;
}

/** Facts about the process that its status shows. */
export interface ProcessView {
  /** Identity of the process, as in the `holderIdentity` of its Lease. */
  readonly identity: string;
  /** Version of the program. */
  readonly version: string;
  readonly leads: boolean;
  /** Start of its leadership, in milliseconds since the epoch. Absent while it does not lead. */
  readonly leadsSince?: number;
  /** Rights that it needs and does not have. */
  readonly missingRights: readonly string[];
  /** Other installations that are active in the cluster: `NAMESPACE (HOLDER)`. */
  readonly otherInstallations: readonly string[];
}

/** A component of a seed, as parts that the process runs. A standby fills its caches too; its controller may have to wait for leadership. */
export interface ComponentParts<Settings> {
  /** Waits for the seed's API server without a timeout: a watchdog that crash-loops protects nobody. */
  readonly caches: Runnable;
  readonly controller: Runnable;
  checks(): readonly ReadyCheck[];
  /** Returns the response to `GET /status`, without secrets; with `shoot`, to `GET /status?shoot=`. Absent if there is no such endpoint. */
  readonly status?: (process: ProcessView, shoot?: string) => object;
  /** Switches to other settings once their caches are filled. Resolves with true then, with false if that fails or later ones overtake them. */
  apply(settings: Settings): Promise<boolean>;
}

export interface ReloadableOptions<Settings, Memory> {
  /** Name of the component. */
  readonly name: string;
  readonly settings: Settings;
  /** Creates the component. `former` holds the settings that were in force before. */
  readonly create: (settings: Settings, former: Settings | undefined) => ConfiguredComponent<Settings, Memory>;
  /** Called when the caches end. */
  readonly stop: () => void;
  /** Same as `ComponentParts.status`, with the settings in force. */
  readonly status?: (settings: Settings, process: ProcessView, shoot?: string) => object;
  readonly logger: Logger;
}

/** A component whose configuration can change while it runs. */
export class Reloadable<Settings, Memory> implements ComponentParts<Settings> {
  readonly caches: Runnable;
  readonly controller: Runnable;
  readonly status?: (process: ProcessView, shoot?: string) => object;
  readonly #options: ReloadableOptions<Settings, Memory>;
  #current: ConfiguredComponent<Settings, Memory>;
  #next: ConfiguredComponent<Settings, Memory> | undefined;
  /** True if the caches have ended. A change that arrives later, as after a suspension, would start watches that nothing stops. */
  #hasEnded = false;
  /** The component that the controller works with. It is closed when it has ended. */
  #working: ConfiguredComponent<Settings, Memory> | undefined;
  /** Ends its work, so that the controller goes on with `#current`. */
  #endWork = (): void => undefined;

  constructor(options: ReloadableOptions<Settings, Memory>) {
    this.#options = options;
    this.#current = options.create(options.settings, undefined);
    this.caches = { name: 'caches', run: (signal, ready) => this.#runCaches(signal, ready) };
    this.controller = { name: options.name, run: (signal, ready) => this.#runController(signal, ready) };
    const { status } = options;
    this.status = status && ((process, shoot) => status(this.#current.settings, process, shoot));
  }

  checks(): readonly ReadyCheck[] {
    return this.#current.checks();
  }

  async apply(wanted: Settings): Promise<boolean> {
    try {
      return await this.#switchTo(wanted);
    } catch (error) {
      this.#options.logger.error('the new configuration could not be applied', { error });
      return false;
    }
  }

  async #runCaches(signal: AbortSignal, ready: () => void): Promise<void> {
    const aborted = whenAborted(signal);
    const first = this.#current;
    const synced = first.sync().catch((error: unknown) => {
      // A replaced component was closed while it synced. The caches of its replacement are filled.
      if (!signal.aborted && this.#current === first) throw error;
    });
    await Promise.race([synced, aborted]);
    if (!signal.aborted) ready();
    await aborted;
    this.#hasEnded = true;
    const pending = this.#next;
    this.#next = undefined;
    this.#options.stop();
    await Promise.all([this.#current.close(), pending?.close()]);
  }

  async #runController(signal: AbortSignal, ready: () => void): Promise<void> {
    ready();
    let memory: Memory | undefined;
    // One listener serves all configurations: one for each would stay on the signal as long as the program runs.
    signal.addEventListener('abort', () => this.#endWork(), { once: true });
    while (!signal.aborted) {
      const working = this.#current;
      const end = new AbortController();
      this.#working = working;
      this.#endWork = () => end.abort();
      memory = await working.work(memory, end.signal);
      this.#working = undefined;
      if (working !== this.#current) await working.close();
    }
  }

  /** Switches to new settings. A later change replaces one whose caches are still being filled. */
  async #switchTo(wanted: Settings): Promise<boolean> {
    if (this.#hasEnded) return false;
    const created = this.#options.create(wanted, this.#current.settings);
    const overtaken = this.#next;
    this.#next = created;
    await overtaken?.close();
    try {
      await created.sync();
    } catch (error) {
      if (this.#next === created) throw error;
    }
    if (this.#next !== created) return false;
    const former = this.#current;
    this.#current = created;
    this.#next = undefined;
    if (this.#working === former) this.#endWork();
    else await former.close();
    this.#options.logger.info('the new configuration is in force');
    return true;
  }
}
