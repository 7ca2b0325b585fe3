/** Permission of this process to write, checked right before every write is sent. */
export interface Leadership {
  mayWrite(): boolean;
}

/** A standby's view of the leader. */
export interface LeaderWatch {
  /**
   * Returns for how many milliseconds this process, which reads the Lease again and again, has seen no renewal by its holder. Undefined if it has not read the
   * Lease recently, as after a suspension, or if no other process holds it.
   */
  silentMs(): number | undefined;
  /** After this many milliseconds of silence, the leader cannot be at work. */
  readonly silenceLimitMs: number;
  /** Calls `listener` when this process becomes the leader. Returns the unsubscribe function. */
  onLead(listener: () => void): () => void;
}
