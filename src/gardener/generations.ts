/** `metadata.generation` of an object, which grows with its spec, and the one that its controller has seen. */
export interface Generations {
  readonly generation: number;
  /** 0 if absent. */
  readonly observedGeneration: number;
}

/** `(<observed>/<generation>)`, as messages have it. */
export const generationRatio = ({ observedGeneration, generation }: Generations): string =>
  `(${observedGeneration}/${generation})`;

export const outdatedProblem = (generations: Generations): string | undefined =>
  generations.observedGeneration < generations.generation
    ? `observed generation outdated ${generationRatio(generations)}`
    : undefined;
