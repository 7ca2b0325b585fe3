/** `text` without the `char`s at its end. An expression such as `/0+$/` looks at each run of them anew from each place: quadratic. */
export const trimEndOf = (text: string, char: string): string => {
  let end = text.length;
  while (end > 0 && text[end - 1] === char) end -= 1;
  return text.slice(0, end);
};
