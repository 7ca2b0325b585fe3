/** The only source of random numbers. It has a fixed seed in simulations, so that a run can be replayed. */
export interface Random {
  /** Returns a number in [0, 1). */
  next(): number;
}
