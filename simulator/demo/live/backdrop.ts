/** What does not change while the demo runs. */
export interface Backdrop {
  readonly withProber: boolean;
  readonly withWeeder: boolean;
  readonly limitMs: number;
  readonly graceMs: number;
  /** Paths. */
  readonly seedKubeconfig: string;
  readonly shootKubeconfigs: readonly string[];
  readonly careConfig: string;
  readonly logs: readonly string[];
}
