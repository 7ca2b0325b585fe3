/** Removes all `char`s at the end of `text`. A regular expression such as `/0+$/` would be quadratic: it scans each run again from each position. */
export const trimEndOf = (text: string, char: string): string => {
  let end = text.length;
  while (end > 0 && text[end - 1] === char) end -= 1;
  return text.slice(0, end);
};
