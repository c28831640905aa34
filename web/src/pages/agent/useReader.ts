import { useEffect, useMemo, useRef } from "react";
import { useCw } from "../../app/cw";
import { useStore } from "../../lib/store";
import { Reader, type Reading } from "./reader";

/** Reads an agent's output for as long as the page is there, from its end unless it is sent to a run. */
export function useReader(id: string, run: string | undefined, following: { current: boolean }): { reader: Reader; reading: Reading } {
  const { client } = useCw();
  const reader = useMemo(() => new Reader(client, id, () => following.current), [client, id, following]);
  const reading = useStore(reader.state);
  const elsewhere = useRef(run !== undefined);
  useEffect(() => {
    if (!elsewhere.current) void reader.start();
    return () => reader.close();
  }, [reader]);
  return { reader, reading };
}
