/** Whether this process may write now. Asked right before every write is sent. */
export interface Leadership {
  mayWrite(): boolean;
}

/** What a process that does not lead sees of the one that does. */
export interface LeaderWatch {
  /**
   * Milliseconds for which this process, which reads the Lease again and again, has seen its holder not renew it. Undefined where it has not read the Lease of
   * late, as after a suspension, or where nobody else holds it.
   */
  silentMs(): number | undefined;
  /** From so many milliseconds of silence on, the leader cannot be at work. */
  readonly silenceLimitMs: number;
  /** Calls `listener` when this process begins to lead. Returns the unsubscribe function. */
  onLead(listener: () => void): () => void;
}
