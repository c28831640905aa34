import { fileNames, names, payloads } from "./payloads";

/** One payload in one field: what is written there, and the word by which a page that shows it is known. */
export interface Mark {
  text: string;
  word: string;
}

/** All payloads for one field. The word stands behind a semicolon, where it changes nothing of what would run. */
export function marksOf(field: string, texts: readonly string[] = payloads): Mark[] {
  return texts.map((text, i) => {
    const word = `Q${field}${String(i).padStart(2, "0")}`;
    return { text: `${text};${word}`, word };
  });
}

/** Those for a field of one line. */
export const linesOf = (field: string): Mark[] => marksOf(field, names);
/** Those for the name of a file. */
export const filesOf = (field: string): Mark[] => marksOf(field, fileNames);

/** All payloads for a field of which there is one, in one text of many lines. */
export const textOf = (field: string): string => marksOf(field).map((one) => one.text).join("\n\n");
/** The same in one line. */
export const lineOf = (field: string): string => linesOf(field).map((one) => one.text).join(" ");
