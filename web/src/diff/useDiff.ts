import { useQueries } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState } from "react";
import type { Schema } from "../api/client";
import { wordsOf } from "../api/problem";
import { useCw } from "../app/cw";
import { fileQuery, type Noun } from "./diffQueries";
import { RowCache, type PatchOf } from "./entries";

interface Asked {
  noun: Noun;
  ref: string;
  project: string;
}

/** The lines of those files that came into sight. */
export function useDiff(asked: Asked, files: Schema<"FileChange">[], head: string, split: boolean): { patchOf: PatchOf; need: (path: string) => void } {
  const { client } = useCw();
  const [needed, setNeeded] = useState<string[]>([]);
  const cache = useRef(new RowCache());
  const need = useCallback((path: string) => {
    setNeeded((before) => (before.includes(path) ? before : [...before, path]));
  }, []);
  const there = useMemo(() => new Set(files.map((file) => file.path)), [files]);
  const paths = needed.filter((path) => there.has(path));
  const results = useQueries({ queries: paths.map((path) => fileQuery(client, asked, path, head)) });
  const patchOf: PatchOf = (path) => {
    const result = results[paths.indexOf(path)];
    if (!result || result.isPending) return undefined;
    if (result.isError) return { rows: [], patch: null, error: `Its lines could not be read. ${wordsOf(result.error)}` };
    return { patch: result.data, rows: result.data ? cache.current.rows(result.data, split) : [] };
  };
  return { patchOf, need };
}
