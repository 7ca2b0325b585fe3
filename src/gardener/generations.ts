/** `metadata.generation` of an object, which grows with each change of its spec, and the generation that its controller has seen. */
export interface Generations {
  readonly generation: number;
  /** 0 if absent. */
  readonly observedGeneration: number;
}

/** Formats generations for messages, as `(<observed>/<generation>)`. */
export const generationRatio = ({ observedGeneration, generation }: Generations): string =>
  `(${observedGeneration}/${generation})`;

export const outdatedProblem = (generations: Generations): string | undefined =>
  generations.observedGeneration < generations.generation
    ? `observed generation outdated ${generationRatio(generations)}`
    : undefined;
