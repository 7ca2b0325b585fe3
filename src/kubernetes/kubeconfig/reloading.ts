/** A value that follows files on disk. */
export interface Reloading<T> {
  /**
   * The value of now; the same object as long as the files are. While a changed file cannot be loaded (it may be half written, or its
   * partner not yet) the last good value stays; rejects only when there never was one.
   */
  current(): Promise<T>;
  /** Makes the next `current` load again, whatever the files say. */
  forget(): void;
}

export interface ReloadingOptions<T> {
  /** A text that differs after every change. */
  readonly stamp: () => Promise<string>;
  readonly load: () => Promise<T>;
}

export const createReloading = <T>({ stamp, load }: ReloadingOptions<T>): Reloading<T> => {
  let known: { readonly stamp: string | undefined; readonly value: T } | undefined;
  return {
    current: async () => {
      try {
        const now = await stamp();
        // Stamped before it is loaded: a change in between is loaded by the next call.
        if (known?.stamp !== now) known = { stamp: now, value: await load() };
      } catch (error) {
        if (known === undefined) throw error;
      }
      return known.value;
    },
    forget: () => {
      if (known !== undefined) known = { ...known, stamp: undefined };
    },
  };
};
