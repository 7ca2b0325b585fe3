const longest = 100;

/** For messages: a text from elsewhere, such as a key of somebody's object, cut after 100 characters. */
export const shorten = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}...` : text);
