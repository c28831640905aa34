import { useMemo, useState } from "react";

/** Which files somebody has looked at, as of a commit: a new one makes them unseen. */
export function useViewed(name: string, head: string) {
  const key = `cw.viewed.${name}`;
  const [changes, setChanges] = useState(0);
  const paths = useMemo(() => {
    void changes;
    return read(key, head);
  }, [key, head, changes]);
  return {
    paths,
    has: (path: string) => paths.has(path),
    toggle: (path: string) => {
      const next = new Set(paths);
      if (!next.delete(path)) next.add(path);
      localStorage.setItem(key, JSON.stringify({ head, paths: [...next] }));
      setChanges((n) => n + 1);
    },
  };
}

function read(key: string, head: string): Set<string> {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? "{}") as { head?: string; paths?: string[] };
    return new Set(kept.head === head ? kept.paths : []);
  } catch {
    return new Set();
  }
}
