import { styleText } from 'node:util';

type Colour = Parameters<typeof styleText>[0];

/** Highlights a status, for example with a colour. */
export type PaintStatus = (status: string, text: string) => string;

/** Colours each status that `colours` lists. `styleText` does so only if stdout is a terminal and `NO_COLOR` is not set. */
export const colourBy = <Status extends string>(colours: Readonly<Record<Status, Colour>>): PaintStatus => {
  const known = new Map(Object.entries<Colour>(colours));
  return (status, text) => {
    const colour = known.get(status);
    return colour === undefined ? text : styleText(colour, text);
  };
};
