import { useMutation as useObserved, type UseMutationOptions } from "@tanstack/react-query";
import { useRef } from "react";

/**
 * useMutation whose function is that of the newest render. The library takes it
 * over after the page was painted, so that a key pressed before, as Enter after
 * the last letter, would send what was there before the letter.
 */
export function useMutation<Data = unknown, Failure = Error, In = void, Context = unknown>(options: UseMutationOptions<Data, Failure, In, Context>) {
  const newest = useRef(options.mutationFn);
  newest.current = options.mutationFn;
  return useObserved<Data, Failure, In, Context>({ ...options, mutationFn: (input, context) => newest.current?.(input, context) as Promise<Data> });
}
