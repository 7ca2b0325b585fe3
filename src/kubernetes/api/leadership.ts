/** Permission of this process to write, checked right before every write is sent. */
export interface Leadership {
  mayWrite(): boolean;
}

/** A standby's view of the leader. */
export interface LeaderWatch {
  /** True while a program of another kind leads, such as the Go program in a roll-out. */
  isOtherProgram(): boolean;
  /** Calls `listener` when this process becomes the leader. Returns the unsubscribe function. */
  onLead(listener: () => void): () => void;
}
