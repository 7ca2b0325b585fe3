/** Permission of this process to write, checked right before every write is sent. */
export interface Leadership {
  mayWrite(): boolean;
}

/** A standby's view of the leader. */
export interface LeaderWatch {
  /**
   * True if a process of this program holds the Lease, or if it has run out or was released, whoever held it. False while a program of another kind holds it,
   * such as the Go program in a roll-out, and as long as it cannot be read: then perhaps nobody will ever lead.
   */
  knowsLeader(): boolean;
  /** Calls `listener` when this process becomes the leader, and when it may write again after it was held up past its deadline. Returns the unsubscribe function. */
  onLead(listener: () => void): () => void;
}
