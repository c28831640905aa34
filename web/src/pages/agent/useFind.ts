import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type RefObject } from "react";
import { wordsOf } from "../../api/problem";
import { sayFailed } from "../../app/notices";
import { count } from "../../lib/words";
import { justBefore, matchesOf } from "./find";
import { holds, type Reader } from "./reader";
import type { Row } from "./rows";
import type { StreamHandle } from "./Stream";
import type { Target } from "./Talk";

interface Options {
  text: string;
  reader: Reader;
  revision: number;
  rows: RefObject<Row[]>;
  stream: RefObject<StreamHandle | null>;
  onJump: (to: NonNullable<Target>, place: string) => void;
  /** It goes to a row, and follows no longer. */
  onLeave: () => void;
}

interface Find {
  /** Goes to the next older match, or the next newer one. */
  next: (newer: boolean) => void;
  /** Says how many there are. */
  found: string;
  /** The row that it is at. */
  marked: string | null;
}

/** Searches in what is held, from the end backwards, and then in all that is stored before it. */
export function useFind({ text, reader, revision, rows, stream, onJump, onLeave }: Options): Find {
  const [marked, setMarked] = useState<string | null>(null);
  const [note, setNote] = useState("");
  const [sought, setSought] = useState<string | null>(null);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the rows are changed in place: the revision says when
  const matches = useMemo(() => matchesOf(rows.current, text), [text, revision]);
  /** Grows with each search, so that what an older one finds late is dropped. */
  const searches = useRef(0);
  const drop = useCallback(() => ++searches.current, []);
  // Before it is painted: a key that is pressed right after must not be taken back.
  useLayoutEffect(() => {
    setMarked(null);
    setNote("");
    setSought(null);
    return () => void drop();
  }, [text, drop]);
  // What was found further back is marked once its page is there.
  useEffect(() => {
    const row = sought === null ? undefined : rows.current.find((one) => one.kind === "item" && holds(one.item, sought));
    if (!row) return;
    setMarked(row.key);
    setSought(null);
  }, [sought, revision, rows]);
  const at = matches.findIndex((index) => rows.current[index]?.key === marked);

  const older = async () => {
    const mine = drop();
    setNote("looking further back…");
    try {
      let before: string | undefined = reader.conversation.first || undefined;
      for (let tries = 0; tries < 20; tries++) {
        const page = await reader.search(text, before);
        if (mine !== searches.current) return;
        const found = page.items.at(-1);
        if (found) {
          setNote("");
          setSought(found.position);
          return onJump({ place: found.position }, justBefore(found.position));
        }
        if (page.older === undefined) return setNote(matches.length > 0 ? "no older match" : "nothing found");
        before = page.older;
        if (tries === 19) setNote("nothing in the last 300 MB");
      }
    } catch (error) {
      if (mine !== searches.current) return;
      setNote("");
      sayFailed(wordsOf(error));
    }
  };
  const next = (newer: boolean) => {
    if (text.trim() === "") return;
    const to = newer ? at + 1 : at < 0 ? matches.length - 1 : at - 1;
    const index = matches[to];
    if (index === undefined) {
      if (!newer) void older();
      return;
    }
    onLeave();
    setMarked(rows.current[index]?.key ?? null);
    stream.current?.toRow(index);
  };
  return { next, found: note || (at < 0 ? count(matches.length, "match", "matches") : `${at + 1} of ${matches.length}`), marked };
}
