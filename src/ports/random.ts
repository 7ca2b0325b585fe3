/** The only source of random numbers. Seeded in simulations, so that a run can be replayed. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
}
