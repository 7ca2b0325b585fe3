/** Whether this process may write now. Asked right before every write is sent. */
export interface Leadership {
  mayWrite(): boolean;
}
