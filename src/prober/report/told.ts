/** What was told last about each cluster, by topic, so that only news is told. */
export class Told {
  readonly #told = new Map<string, Map<string, unknown>>();

  /** True if the value differs from the latest of this topic. undefined: there is nothing to tell. */
  isNews(cluster: string, topic: string, value: string | true | undefined): boolean {
    return this.#replace(cluster, topic, value) !== value;
  }

  /** Returns what has come and what has gone since the latest values of this topic. */
  changes(
    cluster: string,
    topic: string,
    values: readonly string[],
  ): { readonly added: readonly string[]; readonly removed: readonly string[] } {
    const before = (this.#replace(cluster, topic, values.length === 0 ? undefined : values) ?? []) as readonly string[];
    return {
      added: values.filter((value) => !before.includes(value)),
      removed: before.filter((value) => !values.includes(value)),
    };
  }

  forget(cluster: string): void {
    this.#told.delete(cluster);
  }

  #replace(cluster: string, topic: string, value: unknown): unknown {
    const topics = this.#told.get(cluster) ?? new Map<string, unknown>();
    const before = topics.get(topic);
    if (value === undefined) topics.delete(topic);
    else topics.set(topic, value);
    if (topics.size === 0) this.#told.delete(cluster);
    else this.#told.set(cluster, topics);
    return before;
  }
}
