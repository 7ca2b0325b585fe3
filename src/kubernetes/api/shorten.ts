const longest = 100;

/** Cuts a foreign text, such as a key of an object, after 100 characters, for messages. */
export const shorten = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}...` : text);
