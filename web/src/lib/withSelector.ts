import { useEffect, useMemo, useRef, useSyncExternalStore } from "react";

/**
 * Stands in for use-sync-external-store/shim/with-selector, which libraries
 * bring along for a React of long ago: a part of a store's value, and a new look
 * when that part changes.
 */
export function useSyncExternalStoreWithSelector<Value, Part>(
  subscribe: (listener: () => void) => () => void,
  get: () => Value,
  _server: unknown,
  select: (value: Value) => Part,
  same?: (a: Part, b: Part) => boolean,
): Part {
  const shown = useRef<{ part: Part } | null>(null);
  const getPart = useMemo(() => {
    let last: { value: Value; part: Part } | null = null;
    return () => {
      const value = get();
      if (last && Object.is(last.value, value)) return last.part;
      const before = last ?? shown.current;
      const next = select(value);
      last = { value, part: before && same?.(before.part, next) ? before.part : next };
      return last.part;
    };
  }, [get, select, same]);
  const part = useSyncExternalStore(subscribe, getPart);
  useEffect(() => {
    shown.current = { part };
  }, [part]);
  return part;
}
